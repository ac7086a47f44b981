import type { ResponsePart } from './content.js';
import type { CallEvent, PartStart } from './events.js';

/** Checks that the events of one answer obey the grammar of `CallEvent`. For tests of decoders: nothing runs it on calls. */
export class EventGrammar {
  private stage: 'new' | 'open' | 'stopped' | 'over' = 'new';
  private part: { readonly start: PartStart; text: string; isSealed: boolean } | undefined;
  private readonly ids = new Set<string>();

  /** @throws Error naming the rule that the event breaks */
  next(event: CallEvent): void {
    this.require(this.stage !== 'over', event, 'comes after the end');
    this.require((this.stage === 'new') === (event.type === 'call-start'), event, 'is not a valid start');
    switch (event.type) {
      case 'call-start':
        this.stage = 'open';
        return;
      case 'part-start':
        this.require(this.stage === 'open', event, 'comes after the stop');
        this.require(this.part === undefined, event, 'starts while another part is open');
        this.begin(event.start);
        return;
      case 'part-delta':
        this.require(event.text !== '', event, 'is empty');
        this.open(event).text += event.text;
        return;
      case 'part-annotation':
        this.require(this.open(event).start.kind === 'text', event, 'is not in a text');
        return;
      case 'part-seal':
        this.require(this.open(event).start.kind === 'reasoning', event, 'is not in a reasoning part');
        this.require(!this.open(event).isSealed, event, 'is a duplicate within its part');
        this.open(event).isSealed = true;
        return;
      case 'part-end':
        this.finish(event.part, event);
        return;
      case 'usage-update':
        return;
      case 'call-stop':
        this.require(this.stage === 'open', event, 'is the second');
        this.require(this.part === undefined, event, 'is inside a part');
        this.stage = 'stopped';
        return;
      case 'call-end':
        this.require(this.stage === 'stopped', event, 'has no stop');
        this.stage = 'over';
        return;
      default:
        event satisfies never;
    }
  }

  /** @throws Error when the answer is not over */
  end(): void {
    if (this.stage !== 'over') throw new Error('The events end before the call.');
  }

  private begin(start: PartStart): void {
    if (start.kind === 'tool-call') {
      if (start.id === '' || start.name === '') throw new Error('A tool call has no id or no name.');
      if (this.ids.has(start.id)) throw new Error(`Two tool calls have the id ${start.id}.`);
      this.ids.add(start.id);
    }
    this.part = { start, text: '', isSealed: false };
  }

  private finish(part: ResponsePart, event: CallEvent): void {
    const { start, text, isSealed } = this.open(event);
    this.require(part.kind === start.kind, event, `ends a part of the kind ${start.kind}`);
    const whole = part.kind === 'tool-call' ? part.arguments : part.text;
    this.require(whole === text, event, `differs from its deltas: ${JSON.stringify(text)}`);
    if (part.kind === 'reasoning') this.require((part.opaque !== undefined) === isSealed, event, 'has no seal');
    if (part.kind === 'tool-call') {
      const same = start.kind === 'tool-call' && part.id === start.id && part.name === start.name;
      this.require(same, event, 'has a different id or name than its start');
    }
    this.part = undefined;
  }

  private open(event: CallEvent): NonNullable<typeof this.part> {
    if (this.part === undefined) throw new Error(`${JSON.stringify(event)} is outside a part.`);
    return this.part;
  }

  private require(holds: boolean, event: CallEvent, fault: string): void {
    if (!holds) throw new Error(`${JSON.stringify(event)} ${fault}.`);
  }
}
