/** The 35 cells: seven ways to use an engine by five workloads, and the share that each of them should have. */

export const WORKLOADS = ['w1', 'w1d', 'w2', 'w3', 'w4'] as const
export type CellWorkload = (typeof WORKLOADS)[number]

export const ROWS = ['nobody', 'odd', 'answers', 'fired', 'all', 'why', 'history'] as const
export type CellRow = (typeof ROWS)[number]

/** How messages differ: `smooth` ones all have the same fields in one order, and numbers in them. */
export type Data = 'smooth' | 'extra' | 'missing' | 'orders' | 'carried' | 'nulls'

/** What actuators answer. */
export type Answer = 'nothing' | 'object' | 'message'

/** Whose time it is: a variable that goes on 10 ms a message, or the machine's, as an engine has it that is told nothing. */
export type Time = 'variable' | 'machine'

/** How a subscriber is told: what an input did together, or each event as it happens. */
export type Told = 'together' | 'each'

export interface Variant {
  /** as `--only <workload>/<row>/<variant>` takes it; undefined: the row has no other */
  readonly name: string | undefined
  readonly data: Data
  readonly answer: Answer
  readonly time: Time
  readonly told: Told
  /** false: it is shown, and is no part of the verdict */
  readonly isJudged: boolean
}

export interface RowPlan {
  /** who listens to the engine */
  readonly listens: 'nobody' | 'fired' | 'all' | 'why' | 'history'
  /** what targets are a share of: the limit by hand, or the row `nobody` of the same run */
  readonly of: 'limit' | 'nobody'
  readonly targets: Readonly<Record<CellWorkload, number>>
}

/** The least that must hold, as a share of the target. */
export const FLOOR = 0.5

const all = (share: number): RowPlan['targets'] => ({ w1: share, w1d: share, w2: share, w3: share, w4: share })
const uneven = { w1: 0.5, w1d: 0.45, w2: 0.45, w3: 0.5, w4: 0.2 }

export const PLANS: Readonly<Record<CellRow, RowPlan>> = {
  nobody: {
    listens: 'nobody',
    of: 'limit',
    targets: { w1: 0.7, w1d: 0.6, w2: 0.6, w3: 0.75, w4: 0.3 },
  },
  odd: { listens: 'nobody', of: 'limit', targets: uneven },
  answers: {
    listens: 'nobody',
    of: 'limit',
    targets: uneven,
  },
  fired: {
    listens: 'fired',
    of: 'limit',
    targets: { w1: 0.5, w1d: 0.45, w2: 0.4, w3: 0.55, w4: 0.2 },
  },
  all: { listens: 'all', of: 'nobody', targets: all(1 / 3) },
  why: { listens: 'why', of: 'nobody', targets: all(1 / 4) },
  history: { listens: 'history', of: 'nobody', targets: all(1 / 2) },
}

const smooth = { data: 'smooth', answer: 'nothing', time: 'variable', told: 'together', isJudged: true } as const

/** A cell holds when the worst of its judged variants does. */
export function variantsOf(workload: CellWorkload, row: CellRow): readonly Variant[] {
  if (row === 'odd') {
    const odd = ['extra', 'missing', 'orders', 'carried', 'nulls'] as const
    return odd.map((data) => ({ ...smooth, name: data, data }))
  }
  if (row === 'fired' || row === 'why') {
    return [
      { ...smooth, name: 'together' },
      { ...smooth, name: 'each', told: 'each', isJudged: false },
    ]
  }
  if (row !== 'answers') return [{ ...smooth, name: undefined }]
  // By the machine's clock a cool-down of ten seconds outlasts a sample, and next to nothing of W3 would fire.
  const time = workload === 'w3' ? 'variable' : 'machine'
  return [
    { ...smooth, name: 'object', answer: 'object', time },
    { ...smooth, name: 'message', answer: 'message', time },
    ...(workload === 'w3' ? [{ ...smooth, name: 'clock', time: 'machine' as const }] : []),
  ]
}
