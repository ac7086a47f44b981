/** What workers ask their primary of limits. */
export const TAKE_TOPIC = 'limits.take';
export const GIVE_BACK_TOPIC = 'limits.give-back';
export const PROBE_TOPIC = 'limits.probe';
