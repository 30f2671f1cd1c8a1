"""Content words: what a sentence is about, in English, German, Chinese and Japanese, as far as a small list goes.

Words become stems (`tests`, `testing` -> `test`), words of the list become concepts (`测试`, `テスト` -> `test`), so
that a translated or paraphrased sentence still shares its objects with the original. Chinese and Japanese text that
the list does not know is compared by pairs of characters.
"""

from __future__ import annotations

import re

from contextlab.core.audit.language.memo import Memo

_STOP = frozenset(
    """
    a about above after again all almost already also although am an and any anything are aren as at be
    because been before being below between both but by can cannot could couldn did didn do does doesn doing
    don done down during each either else ensure even ever every everything few for from further get gets
    give go goes going good got had has hasn have haven having he her here hers him his how however i if in
    instead into is isn it its itself just keep let like ll look make makes many may maybe me mean might
    mine more most much must my need needs neither never no nor not nothing now of off ok okay on once one
    only or other otherwise our out over own per please put quite rather re really run same say see set
    shall she should shouldn since so some something still such sure take tell than that the their them then
    there these they thing things this those through thus to too under until up upon us use used uses using
    ve very via want wants was wasn way we well were weren what when where whether which while who whom
    whose why will with within without won would wouldn yes yet you your yours always avoid prefer stick
    really actually currently new called said told work works working time und oder der die das den dem ein
    eine einen nicht nie niemals immer keine keinen kein neue neuen nur ist sind auf mit bitte
    """.split()
)
_CONCEPTS = {
    concept: words.split()
    for concept, words in (
        line.split(": ")
        for line in """\
test: 测试 測試 テスト
migration: 迁移 遷移 マイグレーション 移行
dependency: 依赖 依賴 依存
commit: 提交 コミット
push: 推送 プッシュ
branch: 分支 ブランチ branches
database: 数据库 數據庫 データベース db datenbank
file: 文件 档案 ファイル datei dateien
config: 配置 設定 设置 configuration settings konfiguration
comment: 注释 註釋 コメント
english: 英文 英语 英語 englisch
german: 德语 ドイツ語 deutsch
chinese: 中文 汉语 中国語 chinesisch
japanese: 日文 日语 日本語 japanisch
delete: 删除 刪除 削除 remove removing entfernen löschen
rename: 重命名 改名 リネーム umbenennen
port: 端口 ポート
production: 生产 生產 本番 线上 prod produktion
deploy: 部署 デプロイ deployment deploying
lock: 锁 ロック
version: 版本 バージョン
password: 密码 密碼 パスワード passwort
public: 公开 公開 パブリック 公共 öffentlich öffentliche
format: 格式 フォーマット 書式
interface: 接口 インターフェース schnittstelle
function: 函数 関数 funktion
table: 表 テーブル tabelle
schema: 模式 スキーマ
environment: 环境 環境 env umgebung
server: 服务器 伺服器 サーバー サーバ
cache: 缓存 快取 キャッシュ
log: 日志 ログ logging logs
user: 用户 ユーザー benutzer
session: 会话 セッション sitzung
error: 错误 エラー fehler
timeout: 超时 タイムアウト zeitlimit
retry: 重试 リトライ 再試行 retries attempt attempts wiederholung
directory: 目录 ディレクトリ folder 文件夹 フォルダ verzeichnis ordner
package: 包 パッケージ packages paket pakete
library: 库 ライブラリ libraries bibliothek
staging: 预发 ステージング
queue: 队列 キュー
secret: 密钥 秘密 シークレット credential credentials
money: 金额 金額 お金
rounding: 四舍五入 丸め rounded round
index: 索引 インデックス indices indexes
answer: 回答 回复 返答 reply respond response
language: 语言 言語 sprache
ask: 询问 确认 確認 質問 confirm confirmation
review: 审查 レビュー
merge: 合并 マージ
force: 强制 強制
main: 主分支 メイン master
api: API
backup: 备份 バックアップ
style: 风格 スタイル
security: 安全 セキュリティ
license: 许可 ライセンス
generated: 生成
change: 修改 更改 改动 变更 変更 編集 编辑 edit modify touch alter 改 动 触る ändern changing editing modifying touching
add: 添加 增加 新增 追加 introduce hinzufügen adding
install: 安装 インストール installieren
customer: 客户 顧客 kunde kunden
data: 数据 データ daten
code: 代码 コード
build: 构建 ビルド
order: 订单 注文 orders bestellung
payment: 支付 決済 payments zahlung
invoice: 发票 請求書 rechnung
legacy: 旧 旧版 レガシー
network: 网络 ネットワーク netzwerk
thread: 线程 スレッド
memory: 内存 メモリ speicher
limit: 限制 上限 制限""".splitlines()
    )
}
"""Concept -> the words for it, in any language."""
_WORD_TO_CONCEPT = {
    word: concept for concept, words in _CONCEPTS.items() for word in (concept, *words) if word[0] < "⺀"
}
_CJK_TO_CONCEPT = {word: concept for concept, words in _CONCEPTS.items() for word in words if word[0] >= "⺀"}
_CJK_WORD = re.compile("|".join(sorted(map(re.escape, _CJK_TO_CONCEPT), key=len, reverse=True)))
_CJK_RUN = re.compile("[぀-ヿ㐀-鿿豈-﫿]+")
_CJK_GRAMMAR = re.compile(
    "[ぁ-ゖ]+|必须|必須|务必|绝不|绝对|不要|不能|不许|不得|不可|禁止|只能|只用|只改|只许|仅限|一定|一律|始终|永远|请勿|切勿|保持|保留|"
    "必ず|絶対|決して|使用|使って|请|這|这|那|的|了|在|是|和|与|也|都|就|把|被|给|对"
)
_LATIN = re.compile(r"[A-Za-zÀ-ÖØ-öø-ÿ][A-Za-z0-9À-ÖØ-öø-ÿ]*+")
_ENDINGS = (
    "ingly",
    "edly",
    "ations",
    "ation",
    "ments",
    "ment",
    "ings",
    "ing",
    "ies",
    "ied",
    "ed",
    "es",
    "ly",
    "s",
)
CHANGE = frozenset({"change", "add", "delete", "rename"})
"""Concepts of doing: they say what must not be done, not to what."""


def stem(word: str) -> str:
    """The stem or the concept of a word; empty for words that carry nothing."""
    return _STEMS[word]


def _stem(word: str) -> str:
    low = word.casefold()
    if len(low) < 2 or low in _STOP:
        return ""
    if concept := _WORD_TO_CONCEPT.get(low):
        return concept
    cut = [
        low[: -len(ending)] + ("y" if ending in ("ies", "ied") else "")
        for ending in _ENDINGS
        if low.endswith(ending) and len(low) - len(ending) >= 3
    ]
    for short in reversed(cut):
        if concept := _WORD_TO_CONCEPT.get(short) or _WORD_TO_CONCEPT.get(short + "e"):
            return concept
    short = cut[0] if cut else low
    return short.rstrip("e") if len(short) > 3 else short


_STEMS = Memo(_stem)
_stem_of = _STEMS.__getitem__


def content(text: str) -> frozenset[str]:
    """The stems and concepts of a text's words."""
    found = frozenset(filter(None, map(_stem_of, _LATIN.findall(text))))
    return found if text.isascii() else found | _eastern(text)


def _eastern(text: str) -> set[str]:
    found: set[str] = set()
    for run in _CJK_RUN.findall(text):
        known = _CJK_WORD.findall(run)
        found.update(_CJK_TO_CONCEPT[word] for word in known)
        for rest in _CJK_WORD.sub(" ", run).split():
            for piece in _CJK_GRAMMAR.sub(" ", rest).split():
                found.update(piece[at : at + 2] for at in range(len(piece) - 1))
    return found
