const ISO = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?)?$/;

/** An ISO date or time; UTC where it names no zone, so that it means the same everywhere. Undefined for other texts. */
export function parseTime(text: string): Date | undefined {
  const match = ISO.exec(text);
  const zoned = match && text.includes('T') && match[1] === undefined ? `${text}Z` : text;
  const time = new Date(zoned);
  return match && !Number.isNaN(time.getTime()) && isDay(text.slice(0, 10)) ? time : undefined;
}

/** JavaScript takes the 31st of February for the 3rd of March. */
const isDay = (date: string): boolean => new Date(date).toISOString().startsWith(date);
