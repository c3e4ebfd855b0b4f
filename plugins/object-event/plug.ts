/** A sensor for events of the objects in its bucket. */
import { AppError, definePlug, isPlainObject, ownValue, problemsOfCode, textList } from '#plug'

export const objectEvent = definePlug({
  name: 'objectEvent',
  version: '1.0.0',
  kind: 'sensor',
  description:
    'Shows the last event of an object in the bucket that is its resource. Events that do not match its filters change nothing.',
  category: 'Objects',
  channel: 'object',
  parameters: ['event', 'object'],
  states: ['Put', 'Deleted'],
  input: {
    prefix: { type: 'string', description: 'prefix of the path', example: 'reports/' },
    suffix: { type: 'string', description: 'suffix of the path', example: '.json' },
    events: {
      type: 'any',
      description: 'put or delete, a text with commas or a list; default: both',
      example: 'put',
    },
  },
  output: {
    event: { type: 'string', description: 'put or delete' },
    object: { type: 'object', description: 'bucket, path, etag, size, contentType, modified and metadata' },
  },
  check: ({ events }) => problemsOfCode('events', events, eventsOf),
  prepare: ({ events }) => eventsOf(events),
  execute(context) {
    const event = context.streamValue('event')
    const object = context.streamValue('object')
    const path = ownValue(object, 'path')
    if (typeof event !== 'string' || typeof path !== 'string' || !isPlainObject(object)) return undefined
    const { prefix = '', suffix = '' } = context.properties
    const wanted = context.prepared
    if (wanted.length > 0 && !wanted.includes(event)) return undefined
    if (!path.startsWith(prefix) || !path.endsWith(suffix)) return undefined
    return { state: event === 'delete' ? 'Deleted' : 'Put', rawData: { event, object } }
  },
})

function eventsOf(value: unknown): readonly string[] {
  const events = textList(value).map((event) => event.toLowerCase())
  const odd = events.find((event) => event !== 'put' && event !== 'delete')
  if (odd !== undefined) throw new AppError('VALIDATION', `"${odd}" is not an event of objects; use put or delete`)
  return events
}
