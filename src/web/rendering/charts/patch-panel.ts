const DIALECTS = [
  { name: 'Responses', path: '/v1/responses' },
  { name: 'Chat Completions', path: '/v1/chat/completions' },
  { name: 'Messages', path: '/v1/messages' },
];
/** Where the three cords end, by the number of models: never all at the first. */
const ENDS = [2, 0, 4];
const MOST_MODELS = 6;

/** The drawing of the landing page: three dialects, up to six models, a cord from each dialect to one of them. */
export function patchPanel(names: readonly string[]) {
  const models = names.slice(0, MOST_MODELS).map((name, index) => {
    const y = 34 + index * 46;
    return { name, y, textY: y + 4.5 };
  });
  const dialects = DIALECTS.map((dialect, index) => {
    const y = 62 + index * 88;
    return { ...dialect, y, textY: y - 3, pathY: y + 14 };
  });
  const wires = dialects.flatMap(({ y: fromY }, index) => {
    const toY = models[(ENDS[index] ?? 0) % Math.max(1, models.length)]?.y;
    // It hangs: both ends leave downwards.
    return toY === undefined
      ? []
      : [{ number: index + 1, fromY, toY, path: `M186 ${fromY}C228 ${fromY + 46} 240 ${toY + 46} 282 ${toY}` }];
  });
  return { dialects, models, wires };
}
