/** The 35 cells: seven ways to use an engine by five workloads, with the target share of each. */

export const WORKLOADS = ['w1', 'w1d', 'w2', 'w3', 'w4'] as const
export type CellWorkload = (typeof WORKLOADS)[number]

export const ROWS = ['silent', 'odd', 'answers', 'fired', 'all', 'why', 'history'] as const
export type CellRow = (typeof ROWS)[number]

/** Variation of messages: `smooth` ones have the same fields in the same order, with numbers. */
export type Data = 'smooth' | 'extra' | 'missing' | 'orders' | 'carried' | 'nulls'

export type Answer = 'nothing' | 'object' | 'message'

/** Clock: a variable that advances 10 ms per message, or the system clock, the default of an engine. */
export type Time = 'variable' | 'machine'

/** Delivery to a subscriber: all events of an input together, or each as it happens. */
export type Delivery = 'together' | 'each'

export interface Variant {
  /** as in `--only <workload>/<row>/<variant>`; undefined: the only variant */
  readonly name: string | undefined
  readonly data: Data
  readonly answer: Answer
  readonly time: Time
  readonly delivery: Delivery
  /** false: shown, but not part of the verdict */
  readonly isJudged: boolean
}

export interface RowPlan {
  readonly subscribes: 'none' | 'fired' | 'all' | 'why' | 'history'
  /** basis of the targets: the limit, or the row `silent` of the same run */
  readonly of: 'limit' | 'silent'
  readonly targets: Readonly<Record<CellWorkload, number>>
}

export const FLOOR = 0.5

const all = (share: number): RowPlan['targets'] => ({ w1: share, w1d: share, w2: share, w3: share, w4: share })
const uneven = { w1: 0.5, w1d: 0.45, w2: 0.45, w3: 0.5, w4: 0.2 }

export const PLANS: Readonly<Record<CellRow, RowPlan>> = {
  silent: {
    subscribes: 'none',
    of: 'limit',
    targets: { w1: 0.7, w1d: 0.6, w2: 0.6, w3: 0.75, w4: 0.3 },
  },
  odd: { subscribes: 'none', of: 'limit', targets: uneven },
  answers: {
    subscribes: 'none',
    of: 'limit',
    targets: uneven,
  },
  fired: {
    subscribes: 'fired',
    of: 'limit',
    targets: { w1: 0.5, w1d: 0.45, w2: 0.4, w3: 0.55, w4: 0.2 },
  },
  all: { subscribes: 'all', of: 'silent', targets: all(1 / 3) },
  why: { subscribes: 'why', of: 'silent', targets: all(1 / 4) },
  history: { subscribes: 'history', of: 'silent', targets: all(1 / 2) },
}

const smooth = { data: 'smooth', answer: 'nothing', time: 'variable', delivery: 'together', isJudged: true } as const

/** A cell holds when the worst of its judged variants does. */
export function variantsOf(workload: CellWorkload, row: CellRow): readonly Variant[] {
  if (row === 'odd') {
    const odd = ['extra', 'missing', 'orders', 'carried', 'nulls'] as const
    return odd.map((data) => ({ ...smooth, name: data, data }))
  }
  if (row === 'fired' || row === 'why') {
    return [
      { ...smooth, name: 'together' },
      { ...smooth, name: 'each', delivery: 'each', isJudged: false },
    ]
  }
  if (row !== 'answers') return [{ ...smooth, name: undefined }]
  // by the system clock a cool-down of ten seconds outlasts a sample, and W3 would hardly fire
  const time = workload === 'w3' ? 'variable' : 'machine'
  return [
    { ...smooth, name: 'object', answer: 'object', time },
    { ...smooth, name: 'message', answer: 'message', time },
    ...(workload === 'w3' ? [{ ...smooth, name: 'clock', time: 'machine' as const }] : []),
  ]
}
