/** Texts about connectors. */
import type { Source } from '#services/connectors/contract'
import { countText } from './numbers.ts'

type Status = Source['status']

const STATES: Readonly<Record<Status['state'], string>> = {
  paused: 'paused',
  connecting: 'connecting',
  running: 'running',
  retrying: 'fails, and tries again',
}

export function stateText({ state }: Pick<Status, 'state'>): string {
  return STATES[state]
}

export function lagText(lag: number | undefined): string {
  return lag === undefined ? 'unknown' : lag.toLocaleString('en')
}

/** Answers whether the connectors work. */
export function connectorAnswer(all: readonly Status[]): string {
  if (all.length === 0) return 'Connectors'
  const failing = all.filter(({ state }) => state === 'retrying').length
  if (failing > 0) return countText(failing, 'connector fails', 'connectors fail')
  const lag = all.reduce((sum, one) => sum + (one.lag ?? 0), 0)
  if (lag > 0) return `${countText(lag, 'record waits', 'records wait')} for the connectors`
  const paused = all.filter(({ state }) => state === 'paused').length
  return paused > 0 ? countText(paused, 'connector is paused', 'connectors are paused') : 'All connectors keep up'
}
