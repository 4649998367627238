// A log that says only what must not happen.
export const quiet = {
  info: () => undefined,
  warn: () => undefined,
  error: (event, fields) => console.error(event, fields),
};
