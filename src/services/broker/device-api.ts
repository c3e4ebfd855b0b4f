/** The API of a device: it posts messages of its own resources, and reads their commands. */
import { type FeedReader, isPlainObject, type KeyResources } from '#kernel'
import { type LookUp, type NamedResource, requireOwn } from '#services/shared'
import type { BrokerMessage, MqttBrokerApi, StreamedMessage } from './contract.ts'

export function deviceApi(api: MqttBrokerApi, own: KeyResources, lookUp: LookUp): MqttBrokerApi {
  const check = (named: readonly NamedResource[]) => requireOwn(own, named, lookUp)
  const one = (resource: string) => check([{ path: '', resource }])
  const { retained } = api
  return {
    ...api,
    posting: {
      events: async (resource, body, options) => {
        await (resource === undefined ? check(namedIn(body)) : one(resource))
        return api.posting.events(resource, body, options)
      },
      command: (...command) => api.posting.command(...command),
    },
    messages: {
      ...api.messages,
      last: async (resource, ...more) => {
        await one(resource)
        return api.messages.last(resource, ...more)
      },
    },
    retained: {
      ...retained,
      publish: async (resource, channel, ...post) => {
        if (channel === 'events') await one(resource)
        return retained.publish(resource, channel, ...post)
      },
      clear: async (resource, channel) => {
        if (channel === 'events') await one(resource)
        await retained.clear(resource, channel)
      },
    },
    streams: {
      firehose: (options) => api.streams.firehose(options),
      subscribe: (resource, channel, options) => {
        const checked = one(resource)
        const reader = api.streams.subscribe(resource, channel, options)
        return checked === undefined ? reader : new CheckedReader(reader, checked)
      },
    },
  }
}

/** Values without a resource are left to the validation of the post. */
function namedIn(body: unknown): readonly NamedResource[] {
  const list = Array.isArray(body) ? body : [body]
  return list.flatMap((each, i) => {
    const resource: unknown = isPlainObject(each) ? each['resource'] : undefined
    return typeof resource === 'string'
      ? [{ path: Array.isArray(body) ? `/${i}/resource` : '/resource', resource }]
      : []
  })
}

/** Reads nothing before a check has passed. */
class CheckedReader implements FeedReader<BrokerMessage> {
  readonly ready: Promise<void>
  readonly #reader: FeedReader<BrokerMessage>

  constructor(reader: FeedReader<BrokerMessage>, checked: Promise<undefined>) {
    this.#reader = reader
    this.ready = checked.then(
      () => reader.ready,
      async (error: unknown) => {
        await reader.return?.()
        throw error
      },
    )
    // without a failure to report, the reader ends
    this.ready.catch(() => undefined)
  }

  get missed(): boolean {
    return this.#reader.missed
  }

  get passed(): FeedReader<BrokerMessage>['passed'] {
    return this.#reader.passed
  }

  takeDropped(): number {
    return this.#reader.takeDropped()
  }

  async next(): Promise<IteratorResult<StreamedMessage, undefined>> {
    const isOwn = await this.ready.then(
      () => true,
      () => false,
    )
    return isOwn ? this.#reader.next() : { done: true, value: undefined }
  }

  async return(): Promise<IteratorResult<StreamedMessage, undefined>> {
    await this.#reader.return?.()
    return { done: true, value: undefined }
  }

  [Symbol.asyncIterator](): this {
    return this
  }
}
