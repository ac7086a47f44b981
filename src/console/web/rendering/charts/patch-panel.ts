/** What clients speak: `Responses`, at `/v1/responses`. */
interface PanelProtocol {
  readonly id: string;
  readonly name: string;
  readonly path: string;
}

interface PanelModel {
  readonly name: string;
  /** Ids of the dialects that it answers. */
  readonly answers: readonly string[];
}

/** Where the cords would end if every model answered everything: never all at the first. */
const ENDS = [2, 0, 4];
const MAX_PROTOCOLS = 3;
const JACKS = 6;
/** What fits beside a jack on a phone. */
const LONGEST_NAME = 18;

/** The drawing of the landing page: dialects, up to six models, a cord from each dialect to a model that answers it. */
export function patchPanel(allDialects: readonly PanelProtocol[], allModels: readonly PanelModel[]) {
  const jacks = Array.from({ length: JACKS }, (_, index) => {
    const y = 34 + index * 46;
    return { name: shortened(allModels[index]?.name ?? ''), y, textY: y + 4.5 };
  });
  const dialects = allDialects.slice(0, MAX_PROTOCOLS).map((dialect, index) => {
    const y = 62 + index * 88;
    return { ...dialect, y, textY: y - 3, pathY: y + 14 };
  });
  const ends = endsOf(dialects, allModels.slice(0, JACKS));
  const wires = dialects.flatMap(({ y: fromY }, index) => {
    const toY = jacks[ends[index] ?? -1]?.y;
    // It hangs: both ends leave downwards.
    return toY === undefined
      ? []
      : [{ number: index + 1, fromY, toY, path: `M186 ${fromY}C228 ${fromY + 46} 240 ${toY + 46} 282 ${toY}` }];
  });
  return { finding: findingOf(dialects, allModels), dialects, models: jacks, wires };
}

/** The jack of each dialect's cord; one that has no cord yet where there is a choice. */
function endsOf(dialects: readonly PanelProtocol[], models: readonly PanelModel[]): (number | undefined)[] {
  const taken = new Set<number>();
  return dialects.map(({ id }, index) => {
    const able = models.flatMap(({ answers }, jack) => (answers.includes(id) ? [jack] : []));
    const free = able.filter((jack) => !taken.has(jack));
    const wanted = ENDS[index] ?? 0;
    const end = free.includes(wanted) ? wanted : (free[0] ?? able[0]);
    if (end !== undefined) taken.add(end);
    return end;
  });
}

function findingOf(dialects: readonly PanelProtocol[], models: readonly PanelModel[]): string {
  const names = dialects.map(({ name }) => name).join(', ');
  return `${names}: ${models.length === 1 ? '1 model' : `${models.length} models`} behind one address`;
}

const shortened = (name: string): string => (name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME - 1)}…` : name);
