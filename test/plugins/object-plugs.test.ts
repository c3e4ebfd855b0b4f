/** Tests the plugs of objects: events, reads and writes. */
import { describe, expect, it } from 'vitest'
import { getObjectPlug } from '../../plugins/get-object/plug.ts'
import { objectEvent } from '../../plugins/object-event/plug.ts'
import { putObjectPlugs } from '../../plugins/put-object/plug.ts'
import { createEngine, VirtualClock } from '../../src/index.ts'
import type { ObjectPort } from '../../src/core/plug/services.ts'
import { AppError } from '../../src/kernel/errors.ts'
import { checkPlug, runPlug, runPlugLater } from '../support/plug-context.ts'
import { plugServices } from '../support/plug-services.ts'

const object = { bucket: 'assets', path: 'reports/a.json', size: 3 }
const holding = (text: string, contentType = 'text/plain'): ObjectPort => ({
  ...plugServices().objects,
  get: async () => ({ object: { ...object, contentType }, text }),
})

describe('objectEvent', () => {
  it.each([
    [{}, 'put', 'Put'],
    [{}, 'delete', 'Deleted'],
    [{ events: 'put' }, 'delete', undefined],
    [{ events: ['DELETE'] }, 'delete', 'Deleted'],
    [{ prefix: 'reports/', suffix: '.json' }, 'put', 'Put'],
    [{ prefix: 'limits/' }, 'put', undefined],
    [{ suffix: '.csv' }, 'put', undefined],
  ])('with %j for a %s returns %s', (properties, event, state) => {
    const ran = runPlug(objectEvent, { properties, message: { event, object } })
    expect(ran.state).toBe(state)
    if (state !== undefined) expect(ran.rawData).toEqual({ event, object })
  })

  it('ignores a message that is not an object event', () => {
    expect(checkPlug(objectEvent, { events: 'copy' })).toEqual([
      'events: "copy" is not an event of objects; use put or delete',
    ])
    expect(runPlug(objectEvent, { message: { temperature: 5 } }).state).toBeUndefined()
  })

  it('observes the bucket that its node names as resource, only on its channel', async () => {
    const engine = createEngine({ plugs: [objectEvent], scheduler: new VirtualClock(0) })
    const rule = { sensors: [{ label: 'put', name: 'objectEvent', resource: 'assets' }] }
    const task = await engine.start(rule, { type: 'reactive' })
    const seen = () => (task.node('put').rawData as { readonly event?: string } | undefined)?.event
    engine.receive({ resource: 'assets', event: 'put', object })
    engine.receive({ resource: 'public', event: 'put', object }, { channel: 'object' })
    expect(seen()).toBeUndefined()
    engine.receive({ resource: 'assets', event: 'put', object }, { channel: 'object' })
    expect(seen()).toBe('put')
    await engine.close()
  })
})

describe('getObject', () => {
  const read = (port: ObjectPort | undefined, properties: object = {}) =>
    runPlugLater(getObjectPlug(port), { properties: { path: 'reports/a.json', ...properties } })

  it.each([
    ['{"most":5}', 'text/plain', {}, { most: 5 }],
    ['{"most":5}', 'text/plain', { path: 'a.txt' }, '{"most":5}'],
    ['{"most":5}', 'application/json; charset=utf-8', { path: 'a' }, { most: 5 }],
    ['{"most":5}', 'application/geo+json', { path: 'a' }, { most: 5 }],
    ['{"most":5}', 'text/plain', { as: 'text' }, '{"most":5}'],
    ['5', 'text/plain', { path: 'a.txt', as: 'json' }, 5],
  ])('reads %s of type %s with %j', async (text, type, properties, data) => {
    expect(await read(holding(text, type), properties)).toMatchObject({ state: 'Found', rawData: { data, object } })
  })

  it('distinguishes missing objects from unreadable ones', async () => {
    expect(await read({ ...holding(''), get: async () => undefined })).toMatchObject({ state: 'Not Found' })
    await expect(read(holding('{'))).rejects.toThrow('reports/a.json is not valid JSON; set as to text')
    const large = new AppError('TOO_LARGE', 'it has 5 bytes')
    await expect(read({ ...holding(''), get: () => Promise.reject(large) })).rejects.toThrow('it has 5 bytes')
    await expect(read(undefined)).rejects.toThrow(/the service objects is missing/)
  })

  it('requests a limited number of bytes of the named bucket', async () => {
    const { objects, asked } = plugServices()
    await read(objects, { bucket: 'public' })
    expect(asked).toMatchObject([{ call: 'get', with: ['public', 'reports/a.json'] }])
  })
})

describe('putObject', () => {
  const plugOf = (kind: string, port?: ObjectPort) =>
    putObjectPlugs(port).find((plug) => plug.kind === kind) ?? expect.fail()

  it.each([
    ['hello', {}, 'hello', 'text/plain; charset=utf-8'],
    [{ hot: true }, {}, '{"hot":true}', 'application/json'],
    [5, {}, '5', 'application/json'],
    ['a,b', { contentType: 'text/csv' }, 'a,b', 'text/csv'],
  ])('writes %j as text with its type, and with its rule as the cause', async (content, more, text, contentType) => {
    const { objects, asked } = plugServices()
    const properties = { path: 'a', content, ...more }
    expect(await runPlugLater(plugOf('sensor', objects), { properties })).toMatchObject({ state: 'Success' })
    expect(asked).toMatchObject([
      { call: 'put', with: ['assets', 'a', text, { contentType }], cause: { hops: expect.any(Number) as unknown } },
    ])
  })

  it('rejects more than a million characters, and explains failures', async () => {
    const properties = { path: 'a', content: 'x'.repeat(1_000_001) }
    await expect(runPlugLater(plugOf('actuator', plugServices().objects), { properties })).rejects.toThrow(
      /1000001 characters/,
    )
    expect(await runPlugLater(plugOf('sensor'), { properties: { path: 'a', content: 'b' } })).toMatchObject({
      state: 'Error',
      rawData: { error: expect.stringContaining('the service objects is missing') as unknown },
    })
  })
})
