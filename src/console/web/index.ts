// The toolkit of pages: templates and assets, forms that keep their input, cookies, CSRF protection, charts, and
// client snippets.
export { CurrentVisit, CurrentVisitor, rememberVisit, visitIn } from './current-visit.js';
export { sendCsv } from './csv.js';
export { Cursors } from './cursors.js';
export { protocolNames } from './protocol-names.js';
export { Detour } from './detour.js';
export { type Difference, differencesBetween, type FieldValue } from './differences.js';
export { ErrorPages } from './error-pages.js';
export { Form, type FormBody } from './form.js';
export { readFormBodies } from './form-body.js';
export { ForeignForm, FormOrigin } from './form-origin.js';
export { localPath } from './local-path.js';
export { AlreadySent, OnceForms, type OnceResult } from './once-forms.js';
export { type Flash, type Layout, Page, type PageOptions, Redirect } from './page.js';
export { PageInterceptor } from './page.interceptor.js';
export * from './rendering/charts/index.js';
export type { Notice } from './rendering/chrome.js';
export { ViewEngine } from './rendering/view-engine.js';
export { type Shell, ShellContent } from './shell-content.js';
export * from './snippets/index.js';
export { amountOf, IsAmount, typedAmount } from './typed-amount.js';
export { countOf, IsCount, typedCount } from './typed-count.js';
export { Trimmed } from './trimmed.js';
export { VisitCookies } from './visit-cookies.js';
export { WebModule } from './web.module.js';
