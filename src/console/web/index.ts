// The toolkit of pages: templates and assets, forms that keep their input, cookies, CSRF protection, charts, and
// client snippets.
export { CurrentVisit, CurrentVisitor, rememberVisit, VisitCookies, visitIn } from './current-visit.js';
export { sendCsv } from './csv.js';
export { Cursors } from './cursors.js';
export { protocolNames } from './protocol-names.js';
export { Detour, type Flash, type Layout, localPath, Page, type PageOptions, Redirect } from './page.js';
export { type Difference, differencesBetween, type FieldValue } from './differences.js';
export { ErrorPages } from './error-pages.js';
export { amountOf, countOf, Form, type FormBody, IsAmount, IsCount, Trimmed, typedAmount, typedCount } from './form.js';
export { AlreadySent, ForeignForm, FormOrigin, OnceForms, type OnceResult, readFormBodies } from './form-posts.js';
export { PageInterceptor } from './page-writer.js';
export * from './rendering/charts/index.js';
export type { Notice } from './rendering/chrome.js';
export { ViewEngine } from './rendering/view-engine.js';
export { type Shell, ShellContent } from './shell-content.js';
export * from './snippets/index.js';
export { WebModule } from './web.module.js';
