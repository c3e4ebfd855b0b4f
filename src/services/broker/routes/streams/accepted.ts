/** What form of an answer a request asks for. */
import { EVENTS_MEDIA_TYPE, NDJSON_MEDIA_TYPE } from '#services/shared'

type Accepted = 'event' | 'line' | 'json'

const FORMS: ReadonlyMap<string, Accepted> = new Map([
  [EVENTS_MEDIA_TYPE, 'event'],
  [NDJSON_MEDIA_TYPE, 'line'],
  ['application/json', 'json'],
  ['application/*', 'json'],
  ['*/*', 'json'],
])

/** The first type that can be given; `undefined` when none can. Without the header: JSON. */
export function acceptedForm(accept: string | undefined): Accepted | undefined {
  if (accept === undefined || accept.trim() === '') return 'json'
  for (const part of accept.toLowerCase().split(',')) {
    const form = FORMS.get((part.split(';', 1)[0] ?? '').trim())
    if (form !== undefined) return form
  }
  return undefined
}

export function notAcceptable(accept: string | undefined): { readonly error: string } {
  const types = [...FORMS.keys()].filter((type) => !type.includes('*')).join(', ')
  return { error: `Not acceptable. You requested [${accept?.slice(0, 200)}] but we only support [${types}]` }
}
