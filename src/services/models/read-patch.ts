/** Reads what is to be changed about a model whose files stay. */
import { AppError, isPlainObject, Issues, shown } from '#kernel'
import { checkDescription } from './read-upload.ts'

export interface ModelPatch {
  readonly description: string
}

/** `VALIDATION` lists all that is wrong. The description may stand in `metadata`, where later clients write it. */
export function readPatch(body: unknown): ModelPatch {
  if (!isPlainObject(body)) throw new AppError('VALIDATION', `the change is ${shown(body)}: ${RIGHT}`)
  const { metadata, ...own } = body
  const issues = new Issues('PATCH', 20)
  if (metadata !== undefined && !isPlainObject(metadata)) {
    issues.wrong('/metadata', `is ${shown(metadata)}, and must be an object`, RIGHT)
  }
  const inner = isPlainObject(metadata) ? metadata : {}
  const found: unknown[] = []
  for (const [place, values] of [
    ['', own],
    ['/metadata', inner],
  ] as const) {
    for (const [key, value] of Object.entries(values)) {
      const path = `${place}/${key.slice(0, 80)}`
      if (key !== 'description') issues.wrong(path, 'cannot be changed', RIGHT)
      else if (typeof value !== 'string') issues.wrong(path, `is ${shown(value)}, and must be a text`)
      else checkDescription(value, path, issues)
      if (key === 'description') found.push(value)
    }
  }
  if (found.length === 0 && issues.count === 0) issues.wrong('/description', 'is missing', RIGHT)
  if (found.length === 2) issues.wrong('/metadata/description', 'is there twice', 'leave one of them out')
  issues.throwIfAny('The change')
  return { description: String(found[0]) }
}

const RIGHT = 'send {"description": "..."}; what a model predicts is changed by an upload'
