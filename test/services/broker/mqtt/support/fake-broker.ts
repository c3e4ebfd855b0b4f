/** A broker in memory whose posts can be held back. */
import { AppError } from '../../../../../src/kernel/errors.ts'
import type { Caller } from '../../../../../src/kernel/caller.ts'
import { Feed } from '../../../../../src/kernel/feed.ts'
import type { BrokerMessage, MqttBrokerApi, Posted, StreamApi } from '../../../../../src/services/broker/contract.ts'

export interface TakenPost {
  readonly tenant: string
  readonly channel: 'events' | 'commands'
  readonly resource: string | undefined
  readonly body: unknown
}

export class FakeBroker {
  readonly posts: TakenPost[] = []
  readonly feed = new Feed<BrokerMessage>()
  /** Returns what a post waits for before it counts as durable */
  hold: (post: TakenPost) => Promise<void> | undefined = () => undefined

  api({ tenant }: Caller): MqttBrokerApi {
    const post = async (taken: TakenPost): Promise<Posted> => {
      if (typeof taken.body !== 'object') {
        throw new AppError('VALIDATION', 'a message is an object', {
          issues: [{ path: '/', message: 'expected an object', severity: 'ERROR', type: 'TYPE' }],
        })
      }
      await this.hold(taken)
      this.posts.push(taken)
      return { message: 'taken', content: {} }
    }
    return {
      posting: {
        events: (resource, body) => post({ tenant, channel: 'events', resource, body }),
        command: (resource, body) => post({ tenant, channel: 'commands', resource, body }),
      },
      streams: this.#streams(tenant),
      retained: {
        publish: (resource, channel, body) => post({ tenant, channel, resource, body }),
        last: async () => undefined,
        resources: () => [],
        isRetained: () => false,
        clear: async () => undefined,
      },
    } as Partial<MqttBrokerApi> as MqttBrokerApi
  }

  /** Publishes a message to readers. */
  tell(tenant: string, resource: string, channel: 'events' | 'commands', message: BrokerMessage): void {
    this.feed.publish(`${tenant} ${channel} ${resource}`, message)
    if (channel === 'events') this.feed.publish(`${tenant} all`, { ...message, resource })
  }

  #streams(tenant: string): StreamApi {
    return {
      subscribe: (resource, channel, options) =>
        this.feed.read({ topic: `${tenant} ${channel} ${resource}`, ...options }),
      firehose: (options) => this.feed.read({ topic: `${tenant} all`, ...options }),
    }
  }
}
