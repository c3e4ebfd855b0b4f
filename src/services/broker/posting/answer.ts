/** What a post is answered with (part 3, 4.1; texts as clients know them). */
import type { Posted } from '../contract.ts'
import { countOf, toldOf, type Post } from './arrival.ts'

/** `resource`: of the path. `isList`: the body was an array. */
export function answerTo(post: Post, resource: string | undefined, isList: boolean): Posted {
  const { arrivals, bulk } = post
  const [first] = arrivals
  if (bulk !== undefined || (isList && resource !== undefined)) return batchAnswer(post)
  if (isList) {
    const message = arrivals.length === 1 ? published(first?.resource) : `Published ${arrivals.length} messages async`
    return { message, content: arrivals.map(toldOf) }
  }
  if (first === undefined) return batchAnswer(post)
  return { message: published(first.resource), content: resource === undefined ? toldOf(first) : first.message }
}

export function answerToCommand({ arrivals: [command] }: Post): Posted {
  return { message: `Published command for ${command?.resource}`, content: command?.message ?? {} }
}

function published(resource: string | undefined): string {
  return `Published message async for ${resource}`
}

function batchAnswer(post: Post): Posted {
  const resources = new Set(post.bulk?.seen.keys() ?? post.arrivals.map(({ resource }) => resource))
  const [only] = resources
  const where = resources.size === 1 ? `resource ${only}` : `${resources.size} resources`
  return { message: `Batch uploaded ${countOf(post)} messages for ${where}`, content: {} }
}
