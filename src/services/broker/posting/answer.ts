/** Formats the results of posts as clients of the platform expect them. */
import type { BrokerMessage, Posted } from '../contract.ts'
import { countOf, routedMessageOf, type IncomingMessage, type PublishRequest } from './publish-request.ts'

export function answerTo(post: PublishRequest, resource: string | undefined, isList: boolean): Posted {
  const { arrivals, bulk } = post
  const [first] = arrivals
  if (bulk !== undefined || (isList && resource !== undefined)) return batchAnswer(post)
  if (isList) {
    const message = arrivals.length === 1 ? published(first?.resource) : `Published ${arrivals.length} messages async`
    return { message, content: arrivals.map(routedMessageOf) }
  }
  if (first === undefined) return batchAnswer(post)
  const message = published(first.resource)
  return resource === undefined ? { message, content: routedMessageOf(first) } : new PublishedMessage(message, first)
}

export class PublishedMessage implements Posted {
  readonly message: string
  readonly content: BrokerMessage
  readonly #text: string

  constructor(message: string, { message: content, text }: IncomingMessage) {
    this.message = message
    this.content = content
    this.#text = text
  }

  get json(): string {
    return `{"message":${JSON.stringify(this.message)},"content":${this.#text}}`
  }
}

export function answerToCommand({ arrivals: [command] }: PublishRequest): Posted {
  return { message: `Published command for ${command?.resource}`, content: command?.message ?? {} }
}

function published(resource: string | undefined): string {
  return `Published message async for ${resource}`
}

function batchAnswer(post: PublishRequest): Posted {
  const resources = new Set(post.bulk?.seen.keys() ?? post.arrivals.map(({ resource }) => resource))
  const [only] = resources
  const where = resources.size === 1 ? `resource ${only}` : `${resources.size} resources`
  return { message: `Batch uploaded ${countOf(post)} messages for ${where}`, content: {} }
}
