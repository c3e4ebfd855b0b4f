/** Waits for rehearsals, and shows their coverage first. */
import type { Client } from '#client'
import { AppError } from '#kernel'
import { machineTimers } from '#platform'
import type { Rehearsal, RehearsalRequest } from '#services/rules/contract'
import type { ToolContext } from './tool.ts'

const PAUSE_MS = 400

/** Returns the ended rehearsal. Throws its error if it failed; cancels it when the signal aborts. */
export async function rehearsed(
  { client, signal }: Pick<ToolContext, 'client' | 'signal'>,
  request: RehearsalRequest,
): Promise<Rehearsal> {
  const { rehearsals } = client.rules
  const first = await rehearsals.run(request)
  let answer = 'uri' in first ? await rehearsals.get(first.id) : first
  while (answer.status === 'running') {
    await pause(signal)
    if (signal.aborted) await cancelled(rehearsals, answer.id)
    answer = await rehearsals.get(answer.id)
  }
  const { status, error } = answer
  if (status === 'done' || status === 'empty') return answer
  throw new AppError('VALIDATION', `the rehearsal is ${status}${error === undefined ? '' : `: ${error}`}`)
}

async function cancelled(rehearsals: Client['rules']['rehearsals'], id: string): Promise<never> {
  await rehearsals.remove(id)
  throw new AppError('CLOSED', 'the call was cancelled')
}

function pause(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const cancel = machineTimers.later(PAUSE_MS, resolve)
    signal.addEventListener('abort', () => (cancel(), resolve()), { once: true })
  })
}

/** Puts the coverage first, since results over little data mean little. */
export function coverageFirst({ coverage, fidelity, ...rest }: Rehearsal): object {
  return { ...(coverage && { coverage }), ...(fidelity && { fidelity }), ...rest }
}
