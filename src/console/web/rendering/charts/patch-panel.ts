interface PanelProtocol {
  readonly id: string;
  readonly name: string;
  readonly path: string;
}

interface PanelModel {
  readonly name: string;
  /** IDs of the protocols in which it is available. */
  readonly protocols: readonly string[];
}

/** Preferred jack of each wire, so that the wires do not all end at the first model. */
const ENDS = [2, 0, 4];
const MAX_PROTOCOLS = 3;
const JACKS = 6;
/** Fits beside a jack on a phone. */
const MAX_NAME = 18;

/** The drawing of the landing page: protocols, up to six models, and a wire from each protocol to a model. */
export function patchPanel(allProtocols: readonly PanelProtocol[], allModels: readonly PanelModel[]) {
  const jacks = Array.from({ length: JACKS }, (_, index) => {
    const y = 34 + index * 46;
    return { name: shortened(allModels[index]?.name ?? ''), y, textY: y + 4.5 };
  });
  const protocols = allProtocols.slice(0, MAX_PROTOCOLS).map((protocol, index) => {
    const y = 62 + index * 88;
    return { ...protocol, y, textY: y - 3, pathY: y + 14 };
  });
  const ends = endsOf(protocols, allModels.slice(0, JACKS));
  const wires = protocols.flatMap(({ y: fromY }, index) => {
    const toY = jacks[ends[index] ?? -1]?.y;
    return toY === undefined
      ? []
      : [{ number: index + 1, fromY, toY, path: `M186 ${fromY}C228 ${fromY + 46} 240 ${toY + 46} 282 ${toY}` }];
  });
  return { finding: findingOf(protocols, allModels), protocols, models: jacks, wires };
}

/** The jack of each wire, preferably one without a wire. */
function endsOf(protocols: readonly PanelProtocol[], models: readonly PanelModel[]): (number | undefined)[] {
  const taken = new Set<number>();
  return protocols.map(({ id }, index) => {
    const able = models.flatMap((model, jack) => (model.protocols.includes(id) ? [jack] : []));
    const free = able.filter((jack) => !taken.has(jack));
    const wanted = ENDS[index] ?? 0;
    const end = free.includes(wanted) ? wanted : (free[0] ?? able[0]);
    if (end !== undefined) taken.add(end);
    return end;
  });
}

function findingOf(protocols: readonly PanelProtocol[], models: readonly PanelModel[]): string {
  const names = protocols.map(({ name }) => name).join(', ');
  return `${names}: ${models.length === 1 ? '1 model' : `${models.length} models`} behind one address`;
}

const shortened = (name: string): string => (name.length > MAX_NAME ? `${name.slice(0, MAX_NAME - 1)}…` : name);
