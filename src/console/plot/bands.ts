/** Bands of states over time, from events of a run. */

export interface Band {
  readonly from: number
  readonly until: number
  /** null: unknown */
  readonly state: string | null
}

interface StateEvent {
  readonly type: string
  readonly time: number
  readonly node?: string | undefined
  readonly to?: string | null
}

/** Returns the bands of each node until `until`. States that last no time, as between two readings, are left out. */
export function bandsOf(events: readonly StateEvent[], until: number): ReadonlyMap<string, readonly Band[]> {
  const changes = new Map<string, { time: number; state: string | null }[]>()
  for (const { type, time, node, to = null } of events) {
    if (node === undefined || (type !== 'state' && type !== 'gate')) continue
    const list = changes.get(node) ?? []
    changes.set(node, list)
    const last = list.at(-1)
    if (last?.time === time) last.state = to
    else list.push({ time, state: to })
  }
  return new Map([...changes].map(([node, list]) => [node, merged(list, until)]))
}

function merged(
  changes: readonly { readonly time: number; readonly state: string | null }[],
  until: number,
): readonly Band[] {
  const bands: Band[] = []
  for (const { time, state } of changes) {
    const last = bands.at(-1)
    if (last?.state === state) continue
    if (last !== undefined) bands[bands.length - 1] = { ...last, until: time }
    bands.push({ from: time, until, state })
  }
  return bands
}

/** Returns the band at a time. */
export function bandAt(bands: readonly Band[] | undefined, time: number): Band | undefined {
  return bands?.findLast(({ from }) => from <= time)
}

/** Returns times at which a state changes, ascending, each once. */
export function changesOf(bands: ReadonlyMap<string, readonly Band[]>): readonly number[] {
  const times = [...bands.values()].flatMap((list) => list.map(({ from }) => from))
  return [...new Set(times)].sort((a, b) => a - b)
}

/** Returns pauses between samples that are five times as long as nine out of ten pauses. */
export function gapsOf(times: readonly number[]): readonly { readonly from: number; readonly until: number }[] {
  const steps = times.slice(1).map((time, index) => time - (times[index] ?? time))
  const usual = steps.toSorted((a, b) => a - b)[Math.floor(steps.length * 0.9)] ?? 0
  return steps.flatMap((step, index) =>
    usual > 0 && step > usual * 5 ? [{ from: times[index] ?? 0, until: (times[index] ?? 0) + step }] : [],
  )
}

/** Returns round values for an axis, at most `most`. */
export function ticksOf(low: number, high: number, most: number): readonly number[] {
  const rough = (high - low) / Math.max(1, most)
  const size = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * size).find((one) => one >= rough) ?? rough
  if (!(step > 0)) return [low]
  const first = Math.ceil(low / step) * step
  return Array.from({ length: Math.floor((high - first) / step + 1e-9) + 1 }, (_, index) =>
    Number((first + index * step).toPrecision(12)),
  )
}

const TIME_STEPS = [
  1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200, 86_400, 172_800, 604_800,
]

/** Returns round times for an axis, at most `most`, epoch ms. */
export function timeTicksOf(from: number, until: number, most: number): readonly number[] {
  const step = (TIME_STEPS.find((one) => (until - from) / (one * 1_000) <= most) ?? 2_592_000) * 1_000
  const first = Math.ceil(from / step) * step
  return Array.from({ length: Math.max(0, Math.floor((until - first) / step) + 1) }, (_, index) => first + index * step)
}
