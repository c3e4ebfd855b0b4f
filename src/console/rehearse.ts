/** Runs rehearsals, and waits for results that arrive after the first response. */
import type { QueuedRehearsal, Rehearsal, RehearsalRequest } from '#services/rules/contract'
import { api } from './session.ts'

const PAUSE = 400

/** Returns the finished rehearsal. Throws with its reason when it failed. `progress` is called with 0 to 1. */
export async function rehearse(
  request: RehearsalRequest,
  signal: AbortSignal,
  progress: (done: number) => void = () => {},
): Promise<Rehearsal> {
  return settled(await api.rules.rehearsals.run(request), signal, progress)
}

/** Waits for a rehearsal that continues as a job. */
export async function settled(
  first: Rehearsal | QueuedRehearsal,
  signal: AbortSignal,
  progress: (done: number) => void = () => {},
): Promise<Rehearsal> {
  let answer = 'uri' in first ? await api.rules.rehearsals.get(first.id) : first
  while (answer.status === 'running') {
    progress(answer.progress)
    await new Promise((resolve) => setTimeout(resolve, PAUSE))
    if (signal.aborted) {
      await api.rules.rehearsals.remove(answer.id)
      throw new DOMException('cancelled', 'AbortError')
    }
    answer = await api.rules.rehearsals.get(answer.id)
  }
  if (answer.error !== undefined) throw new Error(answer.error)
  return answer
}
