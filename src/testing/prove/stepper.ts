/** Performs one step of a bounded proof: continues a saved task over a gap and a message, as in a run. */
import {
  CoreEngine,
  type EngineEvent,
  type Message,
  type Rule,
  type SavedTask,
  type Task,
  type Template,
  VirtualClock,
} from '#core'
import { AppError } from '#kernel'
import { lengthText } from '../moment-text.ts'
import { isSettledWithin } from '../patience.ts'
import { momentOf, labelsOf, type CaseOptions, type Labels, type Moment } from '../checked-run.ts'

const TASK_ID = 'task'

/** A task at rest at a certain time. */
export interface Standing {
  readonly saved: SavedTask
  readonly time: number
  readonly latest: ReadonlyMap<string, Message>
  readonly newest: Message | undefined
}

export class Stepper {
  readonly #rule: Rule | Template
  readonly #options: CaseOptions
  readonly #labels: Labels

  constructor(rule: Rule | Template, options: CaseOptions) {
    this.#rule = rule
    this.#options = options
    this.#labels = labelsOf(rule)
  }

  async start(time: number): Promise<{ readonly after: Standing; readonly moments: readonly Moment[] }> {
    const { resource, variables, settings } = this.#options
    const clock = new VirtualClock(time)
    const events: EngineEvent[] = []
    const engine = this.#engine(clock, events)
    const task = await engine.start(this.#rule, {
      ...settings,
      ...(resource !== undefined && { resource }),
      ...(variables && { variables: { ...settings?.variables, ...variables } }),
      start: true,
    })
    await this.#settle(engine)
    const standing = { time, latest: new Map<string, Message>(), newest: undefined }
    const moments = [this.#moment(task, events, standing, undefined)]
    const saved = task.save()
    await engine.close()
    return { after: { ...standing, saved }, moments }
  }

  async step(
    before: Standing,
    gap: number,
    message: Message | undefined,
  ): Promise<{ readonly after: Standing; readonly moments: readonly Moment[] }> {
    const clock = new VirtualClock(before.time)
    const events: EngineEvent[] = []
    const engine = this.#engine(clock, events)
    const task = await engine.restore(before.saved)
    const moments: Moment[] = []
    const time = before.time + gap
    let { latest, newest } = before
    for (let at = clock.nextAt(); at !== undefined && at <= time; at = clock.nextAt()) {
      clock.advanceTo(at)
      await this.#settle(engine)
      moments.push(this.#moment(task, events, { time: at, latest, newest }, undefined))
    }
    clock.advanceTo(time)
    if (message !== undefined) {
      // Without a timestamp, the clock is the time of measurement, and no state depends on the date.
      const { timestamp: _, ...unstamped } = message
      engine.receive(unstamped)
      await this.#settle(engine)
      latest = new Map(latest).set(message.resource, message)
      newest = message
      moments.push(this.#moment(task, events, { time, latest, newest }, message))
    }
    const saved = task.save()
    await engine.close()
    return { after: { saved, time, latest, newest }, moments }
  }

  async #settle(engine: CoreEngine): Promise<void> {
    const { patience } = this.#options
    if (engine.openCalls === 0 || (await isSettledWithin(engine, patience))) return
    throw new AppError(
      'PROPERTY',
      `a plug did not return within ${lengthText(patience)}; increase patience if that is expected`,
    )
  }

  #moment(
    task: Task,
    events: EngineEvent[],
    { time, latest, newest }: Omit<Standing, 'saved'>,
    message: Message | undefined,
  ): Moment {
    return momentOf(task, this.#labels, events.splice(0), { time, message, latest, newest })
  }

  #engine(clock: VirtualClock, events: EngineEvent[]): CoreEngine {
    const { preparer, ports, metadata } = this.#options
    const prepared = preparer()
    const engine = new CoreEngine(
      {
        plugs: [],
        scheduler: clock,
        ids: () => TASK_ID,
        seed: 1,
        ports: {
          metadata: (resource) => (metadata && Object.hasOwn(metadata, resource) ? metadata[resource] : undefined),
          ...ports,
        },
      },
      prepared.plugs,
      prepared,
    )
    engine.events$.subscribe((event) => void events.push(event))
    return engine
  }
}
