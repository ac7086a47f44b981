/** Protocol ID in channels and in the usage log. */
export const INTERACTIONS = 'interactions';

/** Below the channel's base URL. */
export const PATH = '/interactions';
