/** An answer as one line: its status, its code, and the places that it names, without the texts. */
import { isPlainObject } from '../../src/kernel/json.ts'
import type { Answer } from '../host/api-story.ts'

export function refusalOf({ statusCode, headers, body }: Answer): string {
  const warned = headers['warning'] === undefined ? [] : ['with a warning']
  if (statusCode < 400) return [statusCode, ...warned].join(' ')
  const said = parsed(body)
  if (!isPlainObject(said)) return `${statusCode} ${body === '' ? 'with no body' : 'with no JSON'}`
  const { code = '-', details, data, detail } = said
  return [statusCode, String(code), ...placesOf(details ?? data ?? detail)].join(' ')
}

/**
 * Whether a service accepts a body that the schema rejects, or rejects one that the schema accepts; not when it names
 * other places alone than the changed one.
 */
export function differs(isValid: boolean, label: string, answer: Answer): boolean {
  const { statusCode } = answer
  if (!isValid) return statusCode < 400 || statusCode === 409
  const changed = /^\/\S*/.exec(label)?.[0] ?? ''
  const named = refusalOf(answer)
    .split(' ')
    .filter((one) => !one.startsWith('~'))
  const places = named.flatMap((one) => /(?<=^|:)\/.*/.exec(one) ?? [])
  const isAbout = (place: string) => `${place}/`.startsWith(`${changed}/`) || `${changed}/`.startsWith(place)
  return [400, 413, 415, 422].includes(statusCode) && (places.length === 0 || places.some(isAbout))
}

function placesOf(details: unknown): readonly string[] {
  if (!Array.isArray(details)) return []
  return [...new Set(details.map(placeOf))].toSorted()
}

function placeOf(detail: unknown): string {
  if (typeof detail === 'string') return /^(\S*) <- /.exec(detail)?.[1] ?? '-'
  if (!isPlainObject(detail)) return '-'
  const { type = '', path, instancePath, loc, severity } = detail
  const place = path ?? instancePath ?? (Array.isArray(loc) ? `/${loc.join('/')}` : '-')
  const named = [type, place].filter((one) => one !== '').map(String)
  return `${severity === 'WARNING' ? '~' : ''}${named.join(':')}`
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
