// The toolkit of pages: templates and assets, forms that keep their input, cookies, CSRF protection, charts, and
// client snippets.
export { clientSnippets } from './client-snippets.js';
export {
  block,
  type ClientTab,
  type CodePiece,
  curlCommand,
  highlighted,
  jsonText,
  KEY_VARIABLE,
  literal,
  type SnippetModel,
  sampleCall,
  STORE_KEY,
} from './client-tab.js';
export { CurrentVisit, CurrentVisitor, rememberVisit, VisitCookies, visitIn } from './current-visit.js';
export { ErrorPages } from './error-pages.js';
export {
  amountOf,
  countOf,
  type Difference,
  differencesBetween,
  type FieldValue,
  Form,
  type FormBody,
  IsAmount,
  IsCount,
  CheckboxList,
  Trimmed,
  typedAmount,
  typedCount,
} from './form.js';
export {
  DuplicateSubmission,
  ForeignForm,
  FormOrigin,
  IdempotentForms,
  readFormBodies,
  SCOPE_FIELD,
} from './form-posts.js';
export { type LayoutPart, LayoutParts } from './page-layouts.js';
export { PageInterceptor, sendCsv, sendJson } from './page-writer.js';
export { StepRequired, type Flash, localPath, Page, type PageOptions, Redirect } from './page.js';
export { protocolNames } from './protocol-names.js';
export { quotaMeter, shareBar, stackedBars } from './rendering/charts/bars.js';
export {
  bucketLinks,
  type Chart,
  type ChartTable,
  chartTable,
  type ChartWithTable,
  COUNT,
  DOLLARS,
  EXACT_DOLLARS,
  MILLISECONDS,
  TOKENS,
  type Unit,
  type Values,
} from './rendering/charts/chart.js';
export { balanceForecast, latencyLines } from './rendering/charts/lines.js';
export { patchPanel } from './rendering/charts/patch-panel.js';
export {
  healthStrip,
  MAJORITY,
  OPERATIONAL,
  type Strip,
  waterfall,
  type WaterfallStep,
} from './rendering/charts/timelines.js';
export { BUDGET_LABELS, type BudgetLeft, navigationPages, type Notice } from './rendering/page-layout.js';
export { ViewEngine } from './rendering/view-engine.js';
export { hasExpiredSecret, keepsSecret, sealedIn, SealedSecrets } from './sealed-secrets.js';
export { Cursors } from './signatures.js';
export { WebModule } from './web.module.js';
