/** Units of metrics, as the attribute `metrics` of a resource or its type declares them. */

/** by name of the metric */
export type Units = ReadonlyMap<string, string>

export const NO_UNITS: Units = new Map()

/** Reads `[{ name, unit }, ...]`; leaves out what has another form. */
export function unitsOf(metrics: unknown): Units {
  if (!Array.isArray(metrics)) return NO_UNITS
  return new Map(
    metrics.flatMap((one: unknown) => {
      const { name, unit } = (one ?? {}) as { readonly name?: unknown; readonly unit?: unknown }
      return typeof name === 'string' && typeof unit === 'string' ? [[name, unit] as const] : []
    }),
  )
}
