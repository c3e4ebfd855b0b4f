/** Sample of a cell: the engine, or a limit, over the messages of a workload in this process. */
import { engineCell, type RunningCell } from '../cells/engine-cell.ts'
import { Firings } from '../../src/bench/firings.ts'
import { limitOf, type LimitName } from '../cells/limits.ts'
import { oddEvents } from '../cells/odd-events.ts'
import { expectedFirings } from '../cells/reference.ts'
import type { Answer, CellRow, CellWorkload, Data, Time, Delivery } from '../cells/targets.ts'
import { START_MS, type Clock } from '../events.ts'
import { workloadNamed } from '../workloads.ts'
import { Driver, warmUp, type Spent } from './spent.ts'

export interface CellsRequest {
  readonly workload: CellWorkload
  readonly who: LimitName | 'reflexarc'
  readonly row: CellRow
  readonly data: Data
  readonly answer: Answer
  readonly time: Time
  readonly delivery: Delivery
  readonly measureMs: number
}

export interface CellsSample extends Spent {
  readonly firings: number
}

/** final messages whose events are each examined */
const CHECKED = 2000
/** limit of a sample by the system clock, below the cool-down */
const LONGEST_MS = 9_500

/** Throws when the firings differ from the reference. */
export async function cellsSample(request: CellsRequest): Promise<CellsSample> {
  const { who, data, time, measureMs } = request
  const workload = workloadNamed(request.workload)
  const events = oddEvents(workload.events, data)
  const clock: Clock = { now: START_MS, stamp: 0 }
  const firings = new Firings(clock)
  const running: Pick<RunningCell, 'handle'> & Partial<RunningCell> =
    who === 'reflexarc'
      ? await engineCell(workload, { ...request, clock, firings })
      : { handle: limitOf(who, workload, { events, time, clock, firings }) }

  const begun = performance.now()
  const driver = new Driver({ handle: running.handle, waits: false }, events, clock)
  await warmUp(driver, workload, measureMs)
  const measured = await driver.spend(measureMs)
  running.beginCheck?.()
  driver.take(CHECKED)
  if (time === 'machine' && performance.now() - begun > LONGEST_MS) {
    throw new Error('the machine is too busy: cool-downs ended within the sample')
  }
  await running.finish?.(driver.taken)
  const expected = expectedFirings(workload, events, { total: driver.taken, time })
  if (firings.count !== expected.count || firings.sum !== expected.sum) {
    throw new Error(
      `fired ${firings.count} times (sum ${firings.sum}) in ${driver.taken} messages, ` +
        `the reference says ${expected.count} (sum ${expected.sum}): other rules fired, or at other messages`,
    )
  }
  return { ...measured, firings: firings.count }
}
