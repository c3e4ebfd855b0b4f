/** Converts errors of PostgreSQL and its connections to coded errors. */
import { AppError, type Issue, messageOf } from '#kernel'

/**
 * Fate of a failed write, the `type` of its only issue. No issue: nothing was written.
 * `UNKNOWN_OUTCOME`: the connection was lost during the commit, and the server could not be asked afterwards.
 */
export type Fate = 'NOT_WRITTEN' | 'UNKNOWN_OUTCOME'

const DISK_FULL = '53100'

const HINTS: ReadonlyMap<string, string> = new Map([
  ['28P01', 'use the correct user and password'],
  ['28000', 'use a user with the right to connect'],
  ['3D000', 'create the database, or use another one'],
  ['42501', 'grant the user the right to create and use the schema'],
  ['42P01', 'a newer version has taken over this collection: start this host again with the newer version'],
  ['25006', 'this server is a read-only standby: connect to the primary'],
  [DISK_FULL, 'free some space on its disk'],
  ['53300', 'raise its max_connections, or open fewer hosts'],
  ['57014', 'request less, or raise the time limit'],
  ['ECONNREFUSED', 'start the server there, or use the correct address'],
  ['ENOENT', 'start the server there, or use the correct folder of its socket'],
  ['ENOTFOUND', 'use the correct host name'],
])

/** Codes of conflicts between transactions, after which a retry makes sense. */
const AGAIN: ReadonlySet<string> = new Set(['23505', '40001', '40P01'])

/** `UNAVAILABLE` when the server does not respond or is full. AppErrors are returned unchanged. */
export function storeError(database: string, thrown: unknown, fate?: Fate): AppError {
  if (thrown instanceof AppError) return thrown
  const hint = HINTS.get(codeOf(thrown) ?? '')
  const what = textOf(thrown)
  const outcome = { NOT_WRITTEN: 'nothing was written', UNKNOWN_OUTCOME: 'whether it was written is unknown' }
  const parts = [`${database}: ${what}`, ...(fate === undefined ? [] : [outcome[fate]]), ...(hint ? [hint] : [])]
  const issues: Issue[] =
    fate === undefined ? [] : [{ path: '', message: outcome[fate], severity: 'ERROR', type: fate }]
  const passes = isConnectionLoss(thrown) || codeOf(thrown) === DISK_FULL
  return new AppError(passes ? 'UNAVAILABLE' : 'STORE', parts.join('; '), { issues, cause: thrown })
}

export function isConnectionLoss(thrown: unknown): boolean {
  if (thrown instanceof AppError) return false
  const code = codeOf(thrown)
  if (!isServerError(thrown)) return true
  return code?.startsWith('08') === true || code?.startsWith('57P') === true || code === '25P03'
}

export function isRace(thrown: unknown): boolean {
  return AGAIN.has(codeOf(thrown) ?? '')
}

export function isRefusal(thrown: unknown): boolean {
  const cause = causeOf(thrown)
  return isServerError(cause) && !isConnectionLoss(cause)
}

/** True when the table is missing because another host has replaced it. */
export function isLostTable(thrown: unknown): boolean {
  return codeOf(causeOf(thrown)) === '42P01'
}

export function isArithmeticFailure(thrown: unknown): boolean {
  return codeOf(causeOf(thrown)) === '22003'
}

function causeOf(thrown: unknown): unknown {
  return thrown instanceof AppError ? thrown.cause : thrown
}

function isServerError(thrown: unknown): boolean {
  return thrown instanceof Error && 'severity' in thrown && typeof thrown.severity === 'string'
}

function codeOf(thrown: unknown): string | undefined {
  return thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : undefined
}

/** When several addresses refuse the connection, the combined error has no text of its own. */
function textOf(thrown: unknown): string {
  if (thrown instanceof AggregateError && thrown.message === '') return thrown.errors.map(messageOf).join(', ')
  return messageOf(thrown)
}
