/** The session of the user: log in and out, and a client whose requests carry it. */
import { computed, signal } from '@preact/signals'
import { type Client, createClient } from '#client'
import { API } from './base.ts'
import { noteAnswer, noteFailure } from './connection.ts'
import { dropFragment } from './router.ts'

export interface Session {
  readonly user: string
  readonly tenant: string
  readonly scopes: readonly string[]
  readonly csrf: string
  readonly expires: string
}

/** undefined: not known yet; null: no user is logged in */
export const session = signal<Session | null | undefined>(undefined)
/** Why the login form is shown, if not for the first time. */
export const loginNote = signal('')

const INCLUDED: Readonly<Record<string, readonly string[]>> = {
  admin: ['publish', 'author', 'operate', 'read'],
  publish: ['author', 'read'],
  author: ['read'],
  operate: ['read'],
}

const scopes = computed(() => {
  const own = session.value?.scopes ?? []
  return new Set(own.flatMap((scope) => [scope, ...(INCLUDED[scope] ?? [])]))
})

/** Whether the user may do what requires the scope. The host decides; this only saves a rejected request. */
export function may(scope: 'read' | 'operate' | 'author' | 'publish' | 'admin'): boolean {
  return scopes.value.has(scope)
}

const SESSION = `${API}/auth/v1/session`
/** With this header, even without a session, the host does not make the browser ask for a pair by itself. */
const CSRF = 'x-reflexarc-csrf'
const NONE = 'none'

export interface SentWrite {
  readonly method: string
  /** below the API */
  readonly path: string
  readonly body?: unknown
}

/** The last accepted change, for a copy of its request. */
let lastWrite: SentWrite | undefined
/** Requests that send a body and change nothing */
const READS =
  /\/(?:session|simulate|rehearsals|query|variableDeclarations|tasklogs|replay|run|debug)(?:[/?]|$)|dryRun=true/

/** Returns the change that was sent since the last call. */
export function takeLastWrite(): SentWrite | undefined {
  const taken = lastWrite
  lastWrite = undefined
  return taken
}

function noteWrite(url: string, { method = 'GET', body }: RequestInit): void {
  if (method === 'GET' || READS.test(url) || (body !== undefined && typeof body !== 'string')) return
  const path = url.slice(API.length)
  try {
    lastWrite = { method, path, ...(typeof body === 'string' && { body: JSON.parse(body) as unknown }) }
  } catch {
    // a body that is not JSON has no command
  }
}

/** Sends a request of the session. A 401 ends the session. */
export const sessionFetch: typeof fetch = async (input, init = {}) => {
  const headers = new Headers(init.headers)
  headers.set(CSRF, session.value?.csrf ?? NONE)
  let answer: Response
  try {
    answer = await fetch(input, { ...init, headers, credentials: 'same-origin' })
  } catch (error) {
    if (init.signal?.aborted !== true) noteFailure()
    throw error
  }
  noteAnswer(answer)
  if (answer.status === 401 && session.value) {
    loginNote.value = 'The session has expired. Log in again to continue where you were.'
    session.value = null
  }
  if (answer.ok) noteWrite(input instanceof Request ? input.url : String(input), init)
  return answer
}

export const api: Client = createClient({ url: API, fetch: sessionFetch })

/** Reads JSON of a route for which the client has no method. */
export async function getJson<T>(path: string): Promise<T> {
  const answer = await sessionFetch(`${API}${path}`, { headers: { accept: 'application/json' } })
  if (!answer.ok) throw new Error(await errorText(answer))
  return (await answer.json()) as T
}

export async function errorText(answer: Response): Promise<string> {
  const body = (await answer.json().catch(() => ({}))) as { readonly error?: string }
  return body.error ?? `The host answered ${answer.status} ${answer.statusText}`.trim()
}

async function open(body: object): Promise<string | undefined> {
  const answer = await fetch(SESSION, {
    method: 'POST',
    headers: { 'content-type': 'application/json', [CSRF]: NONE },
    body: JSON.stringify(body),
    credentials: 'same-origin',
  })
  if (!answer.ok) return errorText(answer)
  session.value = (await answer.json()) as Session
  loginNote.value = ''
  return undefined
}

/** Returns what is wrong, or undefined after a login. */
export async function logIn(key: string, secret: string): Promise<string | undefined> {
  try {
    return await open({ key, secret })
  } catch {
    return 'The host does not answer. Check that it runs, and try again.'
  }
}

export async function logOut(): Promise<void> {
  const { csrf = '' } = session.value ?? {}
  await fetch(SESSION, { method: 'DELETE', headers: { [CSRF]: csrf }, credentials: 'same-origin' })
  session.value = null
}

/** Logs in by the one-time code in the fragment, if any, or resumes the session of the cookie. */
export async function startSession(): Promise<void> {
  const code = new URLSearchParams(dropFragment().slice(1)).get('link')
  try {
    if (code !== null && (await open({ link: code })) === undefined) return
    const answer = await fetch(SESSION, { headers: { [CSRF]: NONE }, credentials: 'same-origin' })
    if (code !== null && !answer.ok)
      loginNote.value = 'This link was used before or is too old: it works once, for 15 minutes. Log in with a key.'
    session.value = answer.ok ? ((await answer.json()) as Session) : null
  } catch {
    loginNote.value = 'The host does not answer. Check that it runs, and try again.'
    session.value = null
  }
}
