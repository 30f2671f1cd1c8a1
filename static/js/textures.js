// Texture = what happened to an item: pinned outlined, kept solid, cleared hatched, offloaded a box in a box,
// summarised striped, dropped hollow. The same as the swatches of the legend.
function tile(pen, colour, size, lines, width, alpha) {
  const piece = document.createElement("canvas");
  piece.width = piece.height = size;
  const brush = piece.getContext("2d");
  brush.strokeStyle = colour;
  brush.lineWidth = width;
  brush.globalAlpha = alpha;
  for (const [x0, y0, x1, y1] of lines) {
    brush.beginPath();
    brush.moveTo(x0, y0);
    brush.lineTo(x1, y1);
    brush.stroke();
  }
  return pen.createPattern(piece, "repeat");
}

export function textures(pen, colours) {
  const hatch = [[-1, 7, 7, -1], [-1, 1, 1, -1], [5, 7, 7, 5]];
  const hatched = Object.fromEntries(Object.entries(colours.kinds).map(([kind, colour]) => [kind, tile(pen, colour, 6, hatch, 1.3, 0.75)]));
  return { hatched, striped: tile(pen, colours.summary, 5, [[0, 2.5, 5, 2.5]], 1.1, 0.5) };
}

export function paint(pen, verdict, kind, [x, y, width, height], colours, patterns) {
  const colour = colours.kinds[kind] ?? colours.faint;
  const box = () => { if (height > 3 && width > 3) pen.strokeRect(x + 0.5, y + 0.5, width - 1, height - 1); };
  pen.globalAlpha = 1;
  pen.lineWidth = 1;
  if (verdict === "kept" || verdict === "pinned") {
    pen.globalAlpha = 0.92;
    pen.fillStyle = colour;
    pen.fillRect(x, y, width, height);
    if (verdict === "pinned") { pen.globalAlpha = 1; pen.strokeStyle = colours.text; box(); }
  } else if (verdict === "cleared" || verdict === "reasoning_cleared") {
    pen.fillStyle = patterns.hatched[kind] ?? colour;
    pen.fillRect(x, y, width, height);
  } else if (verdict === "offloaded") {
    pen.strokeStyle = colour;
    box();
    pen.globalAlpha = 0.8;
    pen.fillStyle = colour;
    pen.fillRect(x, y + height * 0.3, width, height * 0.4);
  } else if (verdict === "summarised") {
    pen.globalAlpha = 0.12;
    pen.fillStyle = colours.summary;
    pen.fillRect(x, y, width, height);
    pen.globalAlpha = 1;
    pen.fillStyle = patterns.striped;
    pen.fillRect(x, y, width, height);
  } else {
    pen.globalAlpha = 0.5;
    pen.strokeStyle = colours.control;
    pen.lineWidth = 0.6;
    if (height > 4 && width > 4) box(); else { pen.globalAlpha = 0.18; pen.fillStyle = colours.control; pen.fillRect(x, y, width, Math.min(height, 0.8)); }
  }
  pen.globalAlpha = 1;
}
