/** The states of one task: live by its stream of events, or at an instant of the past. */
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { TaskStateView } from '#services/rules/contract'
import { gap } from '../connection.ts'
import { past } from '../instant.ts'
import { apply, fromView, type NodeStates, type ShownEvent } from '../graph/node-states.ts'
import { follow } from '../loading.ts'
import { done } from '../parts/undo.tsx'
import { api } from '../session.ts'
import { messageOf } from '../words/errors.ts'
import { countText } from '../words/numbers.ts'

export interface TaskStates {
  readonly states: NodeStates
  readonly timers: TaskStateView['timers']
  /** epoch ms since when the past is kept */
  readonly keptSince: number | undefined
  /** changes when something fired or was decided */
  readonly round: number
  readonly error: string | undefined
}

const DECIDES: ReadonlySet<string> = new Set([
  'fired',
  'held',
  'gate',
  'state',
  'started',
  'stopped',
  'failed',
  'result',
])
/** How often explanations follow the events, in ms */
const PAUSE = 1_500
/** The shortest time between two drawings of events, in ms: text that changes faster cannot be read. */
const DRAWN = 150
/** ms of a drag before the host is asked */
const SETTLED = 90
const MAX_CACHED = 200

export function useTaskStates(id: string): TaskStates {
  const states = useSignal<NodeStates>(new Map())
  const view = useSignal<TaskStateView | undefined>(undefined)
  const round = useSignal(0)
  const error = useSignal<string | undefined>(undefined)
  const { value: at } = past
  const show = (next: TaskStateView, before: NodeStates): void => {
    view.value = next
    states.value = fromView(next.nodes, before, next.timers)
    error.value = undefined
  }
  useEffect(() => {
    states.value = new Map()
  }, [id])
  useEffect(() => {
    if (at !== null) return undefined
    const ending = new AbortController()
    const { signal } = ending
    let lastEventId: string | undefined
    let waiting: ShownEvent[] = []
    let drawing: ReturnType<typeof setTimeout> | undefined
    let drawnAt = -DRAWN
    let timer: ReturnType<typeof setTimeout> | undefined
    const load = async (): Promise<void> => {
      try {
        show(await api.rules.inspection.state(id), states.value)
      } catch (thrown) {
        error.value = messageOf(thrown)
      }
      round.value++
    }
    const draw = (): void => {
      drawing = undefined
      drawnAt = performance.now()
      let next = states.value
      for (const event of settled(waiting)) next = apply(next, event)
      waiting = []
      states.value = next
    }
    let caughtUp = 0
    let stating: ReturnType<typeof setTimeout> | undefined
    const noteGap = ({ time }: ShownEvent): void => {
      const { value: missed } = gap
      if (missed === null || time < missed.from || time > missed.until) return
      caughtUp++
      clearTimeout(stating)
      stating = setTimeout(() => {
        done(`Live again, after ${countText(caughtUp, 'event')} that came meanwhile`)
        caughtUp = 0
        gap.value = null
      }, 500)
    }
    const take = (event: ShownEvent): void => {
      noteGap(event)
      waiting.push(event)
      drawing ??= setTimeout(draw, drawnAt + DRAWN - performance.now())
      if (DECIDES.has(event.type)) timer ??= setTimeout(() => ((timer = undefined), round.value++), PAUSE)
    }
    void load()
    void follow(async (ended) => {
      const options = { signal: ended, ...(lastEventId !== undefined && { lastEventId }) }
      for await (const { id: number, event } of api.rules.inspection.events(id, options)) {
        lastEventId = number
        if (event.type === 'gap') await load()
        else take(event)
      }
    }, signal)
    return () => {
      ending.abort()
      clearTimeout(drawing)
      clearTimeout(timer)
      clearTimeout(stating)
    }
  }, [id, at === null])
  useEffect(() => {
    if (at === null) return undefined
    let isCurrent = true
    const load = async (): Promise<void> => {
      try {
        const next = await stateAt(id, at)
        if (isCurrent) show(next, new Map())
      } catch (thrown) {
        if (isCurrent) error.value = messageOf(thrown)
      }
    }
    const timer = setTimeout(() => void load(), SETTLED)
    return () => {
      isCurrent = false
      clearTimeout(timer)
    }
  }, [id, at])
  const { value: seen } = view
  return {
    states: states.value,
    timers: seen?.timers ?? [],
    keptSince: seen?.keptSince,
    round: round.value,
    error: error.value,
  }
}

/** Leaves out that a sensor was cleared when it observed a state again at the same time. */
function settled(events: readonly ShownEvent[]): readonly ShownEvent[] {
  const later = new Set<string>()
  const kept = events.toReversed().filter(({ type, node, time, to }) => {
    const key = `${type} ${time} ${node}`
    if (to === null && later.has(key)) return false
    later.add(key)
    return true
  })
  return kept.reverse()
}

const cache = new Map<string, Promise<TaskStateView>>()

function stateAt(id: string, at: number): Promise<TaskStateView> {
  const key = `${id} ${at}`
  const known = cache.get(key)
  if (known !== undefined) return known
  const asked = api.rules.inspection.state(id, at)
  if (cache.size >= MAX_CACHED) cache.clear()
  cache.set(key, asked)
  asked.catch(() => cache.delete(key))
  return asked
}
