/** Makes an actuator's failed call again, under its old id and with its old properties, apart from its task. */
import { type Actuator, CoreEngine, type EngineEvent, type Plug, type Rule, VirtualClock } from '#core'
import { followPlugs, type LiveTask, type SavedState } from '#core/spi'
import { AppError } from '#kernel'
import { machineTimers } from '#platform'
import type { Delivery } from '../inspection/inspection-schema.ts'
import { GO } from '../tools/debug-rule.ts'
import type { EngineSettings } from './deterministic-engine.ts'
import type { DeliveryRecord } from './records.ts'

type Result = Pick<Delivery, 'status' | 'message' | 'error'>
type ResultEvent = Extract<EngineEvent, { type: 'result' }>
type SavedExecution = NonNullable<SavedState['executing']>[number]
type Place = Pick<SavedExecution, 'input' | 'place' | 'item'> & Pick<SavedState, 'run'>

/** ms until a call without an answer is given up */
const PATIENCE_MS = 30_000
/** maximum ms by which a plug may delay its result */
const LONGEST_DELAY = 86_400_000
const RESOURCE = 'stream'

/**
 * `task`: the running task that fired the actuator, whose rights the call has. Throws `WRONG_STATUS` if its rule no
 * longer has the node, or its properties were not kept.
 */
export async function callAgain(
  record: DeliveryRecord,
  task: LiveTask,
  settings: Omit<EngineSettings, 'plugs'> & { readonly plugs: () => readonly Plug[] },
  now: number,
): Promise<Result> {
  const { plugs, preparer: _preparer, observed: _observed, history: _history, ...options } = settings
  const actuator = task.prepared.rule.actuators?.find(({ label }) => label === record.node)
  const place = placeOf(record.id)
  if (actuator === undefined || place === undefined) throw notAgain(record, `the rule no longer has ${record.node}`)
  const node = task.prepared.graph.byLabel.get(record.node)
  if (record.call === undefined && !(node?.kind === 'actuator' && node.call.isConstant))
    throw notAgain(record, 'its properties were too large to keep')
  const clock = new VirtualClock(now)
  const registry = followPlugs(() => [...plugs(), GO])
  const engine = new CoreEngine({ seed: 1, ...options, plugs: [], scheduler: clock, ids: () => task.id }, registry)
  const results: ResultEvent[] = []
  engine.events$.subscribe((event) => {
    if (event.type === 'result' && event.node === record.node) results.push(event)
  })
  try {
    const { resource = RESOURCE } = task.prepared
    const { variables } = task.prepared.rule.task ?? {}
    const about = { name: task.name, type: 'reactive', resource, start: true, ...(variables && { variables }) } as const
    const begun = await engine.start(ruleOf(task.prepared.rule, actuator), about)
    const { state, ...saved } = begun.save()
    await engine.remove(task.id, { force: true })
    await engine.restore({ ...saved, state: calling(state, record, place, now) })
    await settled(engine)
    // a result may be held back until its time
    if (results.length === 0) clock.advanceTo(now + LONGEST_DELAY)
  } finally {
    await engine.close()
  }
  const [result] = results
  if (result?.ok !== true) return { status: 'dead', error: result?.error ?? 'the plug did not return in time' }
  return { status: 'delivered', ...(result.message !== undefined && { message: result.message }) }
}

/** Reads `task/run/input/place`, with `#item` for a call of a loop. */
function placeOf(id: string): Place | undefined {
  const found = /\/(\d+)\/(\d+)\/(\d+)(?:#(\d+))?$/.exec(id)
  if (found === null) return undefined
  const [, run, input, place, item] = found
  return {
    run: Number(run),
    input: Number(input),
    place: Number(place),
    ...(item !== undefined && { item: Number(item) }),
  }
}

/** Settings name nodes and times of the whole rule, which are already in its nodes. */
function ruleOf({ task: _settings, ...rule }: Rule, { retryConfig: _retries, ...actuator }: Actuator): Rule {
  const label = actuator.label === 'go' ? 'start' : 'go'
  return {
    ...rule,
    sensors: [{ label, name: GO.name, version: GO.version, dataTrigger: true, resource: '$' }],
    relations: [],
    actuators: [actuator],
    triggers: [{ sourceLabel: label, destinationLabel: actuator.label, statesTrigger: [...GO.states] }],
  }
}

/** Returns the state of a task whose only work is the call. */
function calling(
  state: SavedState,
  { node, call }: DeliveryRecord,
  { run, item, ...place }: Place,
  now: number,
): SavedState {
  const executing: SavedExecution = {
    id: 1,
    node,
    invocation: 1,
    origin: 0,
    ...place,
    phase: 'queued',
    touches: [`node:${node}`],
    placedAt: now,
    // the items before it are over
    ...(item !== undefined && { items: Array.from({ length: item + 1 }, () => ({})), item }),
    ...(call && { rendered: Array.from({ length: (item ?? 0) + 1 }, () => ({ ...call })) }),
  }
  return { ...state, run, executions: 1, origins: [{ kind: 'run', time: now, node }], executing: [executing] }
}

async function settled(engine: CoreEngine): Promise<void> {
  let cancel = (): void => undefined
  const patience = new Promise<void>((resolve) => void (cancel = machineTimers.later(PATIENCE_MS, resolve)))
  await Promise.race([engine.settled(), patience])
  cancel()
}

function notAgain({ id }: DeliveryRecord, why: string): AppError {
  return new AppError(
    'WRONG_STATUS',
    `delivery ${id} cannot be retried: ${why}. Its actuator fires again with the next input that matches`,
  )
}
