import type { Form } from '../form.js';

/** The error summary above a rejected form. */
export interface FormErrors {
  readonly title: string;
  /** `id` is that of the form control. */
  readonly faults: readonly { readonly id: string; readonly message: string }[];
}

/** Undefined if the form has no errors. */
export function formErrors(
  form: Form<object> | undefined,
  ids: Readonly<Record<string, string>> = {},
): FormErrors | undefined {
  const entries = Object.entries(form?.faults ?? {});
  if (entries.length === 0) return undefined;
  return {
    title: entries.length === 1 ? 'Check 1 field' : `Check ${entries.length} fields`,
    faults: entries.map(([field, message]) => ({ id: ids[field] ?? field, message })),
  };
}

export const fieldError = (form: Form<object> | undefined, name: string): string | undefined =>
  form !== undefined && Object.hasOwn(form.faults, name) ? form.faults[name] : undefined;

/** The submitted or initial value of a field. */
export function fieldValue(form: Form<object> | undefined, name: string): string {
  const value = form !== undefined && Object.hasOwn(form.values, name) ? form.values[name] : undefined;
  return typeof value === 'string' ? value : (value?.[0] ?? '');
}

/** Whether an option is selected, in the submitted form or initially. */
export function isChosen(form: Form<object> | undefined, name: string, option: string, initial: string): boolean {
  return form !== undefined && Object.hasOwn(form.values, name) ? hasValue(form, name, option) : option === initial;
}

/** Browsers do not send cleared checkboxes, so `initial` applies only to a form without values. */
export function isTicked(form: Form<object> | undefined, name: string, option: string, initial: boolean): boolean {
  return form === undefined || Object.keys(form.values).length === 0 ? initial : hasValue(form, name, option);
}

function hasValue(form: Form<object> | undefined, name: string, wanted: string): boolean {
  const value = form !== undefined && Object.hasOwn(form.values, name) ? form.values[name] : undefined;
  return typeof value === 'string' ? value === wanted : (value?.includes(wanted) ?? false);
}
