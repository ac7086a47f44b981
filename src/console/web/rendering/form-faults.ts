import type { Form } from '../form.js';

/** What the summary on top of a refused form lists. */
export interface FormFaults {
  readonly title: string;
  /** By the id of the control that is to be mended. */
  readonly faults: readonly { readonly id: string; readonly message: string }[];
}

const NUMBERS = ['No', 'One', 'Two', 'Three', 'Four', 'Five'];

/** Undefined for a form that was not refused. */
export function formFaults(
  form: Form<object> | undefined,
  ids: Readonly<Record<string, string>> = {},
): FormFaults | undefined {
  const entries = Object.entries(form?.faults ?? {});
  if (entries.length === 0) return undefined;
  const number = NUMBERS[entries.length] ?? String(entries.length);
  return {
    title: entries.length === 1 ? 'One field needs attention' : `${number} fields need attention`,
    faults: entries.map(([field, message]) => ({ id: ids[field] ?? field, message })),
  };
}

/** What is wrong with one field. */
export const fieldFault = (form: Form<object> | undefined, name: string): string | undefined =>
  form !== undefined && Object.hasOwn(form.faults, name) ? form.faults[name] : undefined;

/** What was typed into a field, or is to stand in it at first. */
export function fieldValue(form: Form<object> | undefined, name: string): string {
  const value = form !== undefined && Object.hasOwn(form.values, name) ? form.values[name] : undefined;
  return typeof value === 'string' ? value : (value?.[0] ?? '');
}

/** Whether an option is the chosen one: as typed, else as it is at first. */
export function isChosen(form: Form<object> | undefined, name: string, option: string, initial: string): boolean {
  return form !== undefined && Object.hasOwn(form.values, name) ? hasValue(form, name, option) : option === initial;
}

/** Whether a box is ticked. Browsers do not send empty ones: what stands there at first counts only in a form that has nothing. */
export function isTicked(form: Form<object> | undefined, name: string, option: string, initial: boolean): boolean {
  return form === undefined || Object.keys(form.values).length === 0 ? initial : hasValue(form, name, option);
}

/** Whether one of the values of a field, such as a ticked box, is this one. */
function hasValue(form: Form<object> | undefined, name: string, wanted: string): boolean {
  const value = form !== undefined && Object.hasOwn(form.values, name) ? form.values[name] : undefined;
  return typeof value === 'string' ? value === wanted : (value?.includes(wanted) ?? false);
}
