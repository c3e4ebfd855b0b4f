/** The 35 cells: each compared with the limit for the same data in the same run, with target and floor. */
import { digits, rate } from '../figures.ts'
import { lineOf, type Line, type Measurement, type Row, type Scope } from '../measurement.ts'
import type { CellsRequest, CellsSample } from '../samples/cells.ts'
import { estimate, type Estimate } from '../../src/bench/statistics.ts'
import { LIMITS } from '../cells/limits.ts'
import {
  FLOOR,
  PLANS,
  ROWS,
  variantsOf,
  WORKLOADS,
  type CellRow,
  type CellWorkload,
  type Data,
  type Time,
  type Variant,
} from '../cells/targets.ts'
import { nanosPerEvent } from './throughput.ts'

type CellLine = Line<CellsSample>

interface Cell {
  readonly workload: CellWorkload
  readonly row: CellRow
  readonly variants: readonly VariantLines[]
}

interface VariantLines extends Variant {
  readonly own: CellLine
  /** basis of its share: the best of them */
  readonly basis: readonly CellLine[]
}

export const cells: Measurement = {
  name: 'cells',
  open(scope) {
    const book = new LineBook(scope)
    const all = WORKLOADS.flatMap((workload) => ROWS.map((row) => cellOf(workload, row, scope.cells, book)))
    const chosen = all.filter(({ variants }) => variants.length > 0)
    return {
      name: 'cells',
      title: 'Cells: messages per second of CPU of the main thread, each as a share of a limit in the same run',
      costUnit: 'ns/message',
      lines: book.lines,
      rows: () => rowsOf(chosen),
      conclusions: () => [],
    }
  },
}

/** As in `--only`. */
export function isCell(name: string): boolean {
  return WORKLOADS.some((workload) =>
    ROWS.some((row) => variantsOf(workload, row).some((variant) => isChosen([name], workload, row, variant))),
  )
}

/** `w2/odd/nulls`, or its first parts, or the row alone. A workload alone is another measurement. */
function isChosen(chosen: readonly string[], workload: CellWorkload, row: CellRow, { name }: Variant): boolean {
  const cell = `${workload}/${row}`
  return chosen.some((one) => one === cell || one === row || one === `${workload}/*` || one === `${cell}/${name}`)
}

class LineBook {
  readonly #scope: Scope
  readonly #lines = new Map<string, CellLine>()

  constructor(scope: Scope) {
    this.#scope = scope
  }

  get lines(): readonly CellLine[] {
    return [...this.#lines.values()]
  }

  engine(workload: CellWorkload, row: CellRow, variant: Variant): CellLine {
    const { data, answer, time, delivery, name } = variant
    const title = [workload, row, ...(name === undefined ? [] : [name])].join('/')
    return this.#line(title, { workload, who: 'reflexarc', row, data, answer, time, delivery })
  }

  limits(workload: CellWorkload, data: Data, time: Time): readonly CellLine[] {
    // results of actuators do not affect the limit, and only cool-downs read a clock
    const ownTime = workload === 'w3' ? time : 'variable'
    return (workload === 'w2' ? LIMITS : (['loop'] as const)).map((who) => {
      const title = [workload, 'limit', who, data, ...(ownTime === 'machine' ? ['clock'] : [])].join('/')
      return this.#line(title, {
        workload,
        who,
        row: 'silent',
        data,
        answer: 'nothing',
        time: ownTime,
        delivery: 'together',
      })
    })
  }

  #line(title: string, request: Omit<CellsRequest, 'measureMs'>): CellLine {
    const known = this.#lines.get(title)
    if (known !== undefined) return known
    const { measureMs } = this.#scope
    const line = lineOf('cells', { name: title, title, request: { ...request, measureMs } }, nanosPerEvent)
    this.#lines.set(title, line)
    return line
  }
}

function cellOf(workload: CellWorkload, row: CellRow, chosen: readonly string[], book: LineBook): Cell {
  const variants = variantsOf(workload, row)
    .filter((variant) => chosen.length === 0 || isChosen(chosen, workload, row, variant))
    .map((variant): VariantLines => {
      const [silent] = variantsOf(workload, 'silent')
      const basis =
        PLANS[row].of === 'limit' || silent === undefined
          ? book.limits(workload, variant.data, variant.time)
          : [book.engine(workload, 'silent', silent)]
      return { ...variant, own: book.engine(workload, row, variant), basis }
    })
  return { workload, row, variants }
}

interface Shown {
  readonly share: Estimate
  readonly rate: number
  readonly otherThreads: number
  readonly variant: VariantLines
}

const HEAD = ['cell', 'messages/s', 'share', '95 %', 'of', 'target', 'floor', '', 'other threads']

function rowsOf(all: readonly Cell[]): readonly Row[] {
  let held = 0
  let above = 0
  const rows = all.flatMap(({ workload, row, variants }): Row[] => {
    const { of, targets } = PLANS[row]
    const target = targets[workload]
    const floor = target * FLOOR
    if (variants.some(({ own, basis }) => [own, ...basis].some(({ failure }) => failure !== undefined))) {
      return [[`${workload}/${row}`, 'FAILED']]
    }
    const shown = variants.map(shownOf).toSorted((a, b) => a.share.value - b.share.value)
    const [worst] = shown.filter(({ variant }) => variant.isJudged)
    if (worst === undefined)
      return shown.map((one) => [`${workload}/${row}/${one.variant.name}`, ...figuresOf(one), of])
    if (worst.share.value >= target) held++
    if (worst.share.value >= floor) above++
    const verdict =
      worst.share.value >= target ? 'held' : worst.share.value >= floor ? 'above its floor' : 'BELOW ITS FLOOR'
    const goals = [of, percentOf(target), percentOf(floor), verdict]
    return [
      [`${workload}/${row}`, ...figuresOf(worst), ...goals, threadsOf(worst)],
      ...(shown.length === 1 ? [] : shown).map((one) => {
        const judged = one.variant.isJudged ? '' : 'not judged'
        return [`  ${one.variant.name}`, ...figuresOf(one), of, '', '', judged, threadsOf(one)]
      }),
    ]
  })
  return [HEAD, ...rows, [`${held} of ${all.length} hold, ${above} are at their floor or above`]]
}

/** Shares round by round, so that a slow minute affects both sides. */
function shownOf(variant: VariantLines): Shown {
  const { own, basis } = variant
  const [best] = basis.toSorted((a, b) => costOf(a) - costOf(b))
  const shares = own.samples.flatMap((sample, i) => {
    const other = best?.samples[i]
    return other === undefined ? [] : [nanosPerEvent(other) / nanosPerEvent(sample)]
  })
  const total = (of: (sample: CellsSample) => number) => own.samples.reduce((sum, sample) => sum + of(sample), 0)
  return {
    share: estimate(shares),
    rate: 1e9 / costOf(own),
    otherThreads: total(({ otherCpuMs }) => otherCpuMs) / total(({ cpuMs }) => cpuMs),
    variant,
  }
}

function costOf({ samples }: CellLine): number {
  return estimate(samples.map(nanosPerEvent)).value
}

function figuresOf({ share, rate: perSecond }: Shown): Row {
  const { value, low, high } = share
  const interval = low === high ? 'one round' : `${percentOf(low)} .. ${percentOf(high)}`
  return [rate(perSecond), percentOf(value), interval]
}

function threadsOf({ otherThreads }: Shown): string {
  return `+ ${percentOf(otherThreads)}`
}

function percentOf(share: number): string {
  return `${digits(share * 100)} %`
}
