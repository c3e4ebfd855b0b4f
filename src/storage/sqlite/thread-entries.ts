/** Locates the entry files of threads: sources when running from sources, otherwise built files. */
const fromSources = import.meta.url.endsWith('.ts')

export const threadEntries = {
  stateWriter: fromSources
    ? new URL('./state-writer.ts', import.meta.url)
    : new URL('./state-writer.js', import.meta.url),
  seriesWriter: fromSources
    ? new URL('./series-writer.ts', import.meta.url)
    : new URL('./series-writer.js', import.meta.url),
  reader: fromSources ? new URL('./reader.ts', import.meta.url) : new URL('./reader.js', import.meta.url),
} as const
