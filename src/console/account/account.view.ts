import { browserName, type Session } from '../../auth/index.js';

/** A session as a row of its list. */
export interface SessionView {
  readonly id: string;
  readonly browser: string;
  readonly ip: string;
  readonly createdAt: Date;
  readonly lastSeenAt: Date;
  readonly expiresAt: Date;
  /** Whether it is the one that asks. */
  readonly current: boolean;
}

/** The one that asks first, then the last seen. */
export function sessionViews(sessions: readonly Session[], currentId: string): readonly SessionView[] {
  const views = sessions.map(({ userAgent, ...session }) => ({
    ...session,
    browser: browserName(userAgent),
    current: session.id === currentId,
  }));
  return views.toSorted((one, other) => Number(other.current) - Number(one.current));
}

export const timeZoneOptions = (zones: readonly string[]) =>
  zones.map((zone) => ({ value: zone, label: zone.replaceAll('_', ' ') }));

export const themeOptions = (theme: 'light' | 'dark' | undefined) => [
  { value: 'system', label: 'As the system', chosen: theme === undefined },
  { value: 'light', label: 'Light', chosen: theme === 'light' },
  { value: 'dark', label: 'Dark', chosen: theme === 'dark' },
];
