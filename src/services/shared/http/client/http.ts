/** HTTP for the clients: JSON in both directions, and errors restored as AppErrors. */
import { AppError, type ErrorCode, ERRORS, type ExpectedVersion, isPlainObject, type Issue } from '#kernel'
import { isAddressable, NOT_ADDRESSABLE } from '../addressable.ts'

export interface HttpOptions {
  /** base URL, such as `http://127.0.0.1:8080` */
  readonly url: string
  /** headers for every request, such as `authorization` */
  readonly headers?: Readonly<Record<string, string>>
  readonly fetch?: typeof globalThis.fetch
}

export type QueryValue = string | number | boolean | undefined | readonly string[]

export interface RequestDetails {
  readonly query?: Readonly<Record<string, QueryValue>>
  /** sent as JSON; bytes are sent unchanged, with the content type given in `headers` */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

export type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export function conditionOf(expected: ExpectedVersion | undefined): Pick<RequestDetails, 'headers'> {
  if (expected === undefined) return {}
  return { headers: expected === 'absent' ? { 'if-none-match': '*' } : { 'if-match': `"${expected}"` } }
}

export class Http {
  readonly #options: HttpOptions

  constructor(options: HttpOptions) {
    this.#options = options
  }

  /** Returns the JSON value in the response body; undefined for an empty body. Throws the service's errors. */
  async json(method: Method, path: string, ask: RequestDetails = {}): Promise<unknown> {
    const text = await (await this.open(method, path, ask)).text()
    return text === '' ? undefined : JSON.parse(text)
  }

  async open(method: Method, path: string, ask: RequestDetails = {}): Promise<Response> {
    const response = await this.send(method, path, ask)
    return response.ok ? response : this.refused(response)
  }

  async refused(response: Response): Promise<never> {
    throw errorOf(response, await response.text())
  }

  send(method: Method, path: string, { query = {}, body, headers, signal }: RequestDetails): Promise<Response> {
    const { url, headers: common, fetch = globalThis.fetch } = this.#options
    const isBytes = body instanceof Uint8Array
    return fetch(`${url}${path}${queryText(query)}`, {
      method,
      headers: { ...common, ...(body !== undefined && !isBytes && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: isBytes ? (body as Uint8Array<ArrayBuffer>) : JSON.stringify(body) }),
      ...(signal && { signal }),
    })
  }
}

export async function typed<T>(answer: Promise<unknown>): Promise<T> {
  return (await answer) as T
}

/** Encodes outside values in a path. Throws `VALIDATION` for a value that would change the path. */
export function pathOf(parts: TemplateStringsArray, ...values: readonly string[]): string {
  for (const value of values) {
    if (!isAddressable(value)) throw new AppError('VALIDATION', `"${value}" ${NOT_ADDRESSABLE}`)
  }
  return parts.reduce((path, part, i) => `${path}${encodeURIComponent(values[i - 1] ?? '')}${part}`)
}

function queryText(query: Readonly<Record<string, QueryValue>>): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue
    for (const each of typeof value === 'object' ? value : [String(value)]) parameters.append(name, each)
  }
  const text = parameters.toString()
  return text === '' ? '' : `?${text}`
}

function errorOf(response: Response, text: string): AppError {
  const body = parsed(text)
  const error = typeof body['error'] === 'string' ? body['error'] : `${response.status} ${response.statusText}`
  // the registry calls the field `data`
  const sent = body['details'] ?? body['data']
  const details = Array.isArray(sent) ? (sent as readonly (string | Detail)[]) : []
  const issues = details.map((detail) => issueOf(typeof detail === 'string' ? textIssue(detail) : detail))
  return new AppError(codeOf(body['code'], response.status), error, { issues })
}

/** An issue as such, or in the form of the resources service. */
type Detail = Partial<Issue> & { readonly instancePath?: string; readonly msgs?: readonly string[] }

function issueOf({ instancePath, msgs, ...issue }: Detail): Issue {
  const { path = instancePath ?? '', type = '', message = msgs?.join('; ') ?? '', severity = 'ERROR', ...rest } = issue
  return { path, type, message, severity, ...rest }
}

function textIssue(text: string): Partial<Issue> {
  const [path = '', ...rest] = text.split(' <- ')
  return rest.length === 0 ? { message: text } : { path: path === '/' ? '' : path, message: rest.join(' <- ') }
}

/** Replaces codes that only exist over HTTP with the general code for their status. */
function codeOf(code: unknown, status: number): ErrorCode {
  if (typeof code === 'string' && Object.hasOwn(ERRORS, code)) return code as ErrorCode
  return BY_STATUS.get(status) ?? (status >= 500 ? 'INTERNAL' : 'VALIDATION')
}

const BY_STATUS: ReadonlyMap<number, ErrorCode> = new Map([
  [401, 'UNAUTHORIZED'],
  [403, 'FORBIDDEN'],
  [404, 'NOT_FOUND'],
  [409, 'CONFLICT'],
  [412, 'PRECONDITION'],
  [503, 'CLOSED'],
])

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    const body: unknown = JSON.parse(text)
    return isPlainObject(body) ? body : {}
  } catch {
    return {}
  }
}
