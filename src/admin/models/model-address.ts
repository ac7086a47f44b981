const encoded = (name: string): string => name.split('/').map(encodeURIComponent).join('/');

/** The address of a model's page. Its name may have slashes, and anything else but blanks. */
export const modelAddress = (name: string): string => `/admin/models/${encoded(name)}`;

/** Where a model is switched off and on, and where prices that have not begun are taken back. */
export const switchAddress = (name: string): string => `/admin/switch-model/${encoded(name)}`;
export const withdrawAddress = (name: string): string => `/admin/withdraw-prices/${encoded(name)}`;
