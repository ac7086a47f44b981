import type { ElementHandle, Locator, Page } from 'playwright-core';

/** How somebody uses a page. */
export interface PageInput {
  /** Puts a text into the field with this label. */
  fill(page: Page, label: string | RegExp, text: string): Promise<void>;
  /** Presses the button, or follows the link, and waits for the page behind it. */
  press(page: Page, role: 'button' | 'link', name: string | RegExp): Promise<void>;
}

/** By mouse. */
export const mouse: PageInput = {
  fill: (page, label, text) => field(page, label).fill(text),
  press: async (page, role, name) => {
    await Promise.all([page.waitForEvent('load'), page.getByRole(role, { name }).first().click()]);
  },
};

/** By the keys of a keyboard alone: whatever is wanted must be reached by Tab, and be seen to be. */
export const keyboard: PageInput = {
  fill: async (page, label, text) => {
    await tabTo(page, field(page, label));
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.type(text);
  },
  press: async (page, role, name) => {
    await tabTo(page, page.getByRole(role, { name }).first());
    await Promise.all([page.waitForEvent('load'), page.keyboard.press('Enter')]);
  },
};

const field = (page: Page, label: string | RegExp): Locator => page.getByLabel(label, { exact: true }).first();

/** What is read of an element, within the page. */
interface InPage {
  readonly ownerDocument: { readonly activeElement: unknown };
}

/** More than any page has places to stop at. */
const MAX_STOPS = 150;

async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.waitFor();
  const handle = (await target.elementHandle()) as ElementHandle<InPage> | null;
  for (let stop = 0; stop < MAX_STOPS; stop += 1) {
    await page.keyboard.press('Tab');
    if (await handle?.evaluate((element: InPage) => element === element.ownerDocument.activeElement)) return;
  }
  throw new Error(`${target} cannot be reached by Tab on ${page.url()}`);
}
