import { isPlainObject } from '../../kernel/json.ts'
import { descend } from './read-path.ts'
import type { Scope } from './scope.ts'
import type { Reference } from './template-parse.ts'

/** One round of a loop. */
export interface Frame {
  readonly item: unknown
  readonly index: number
  readonly key: string
  readonly outer: Frame | undefined
}

/**
 * The value that a name in `{{}}` stands for, or undefined. Inside a loop the item's own fields come first, then
 * those of the loops around it, then node labels. Own properties only.
 */
export function readReference(reference: Reference, scope: Scope, frame: Frame | undefined): unknown {
  const { segments } = reference
  const first = segments[0] ?? ''
  switch (first) {
    case 'GLOBAL':
      return descend(scope.streamValue(segments[1] ?? ''), segments, 2)
    case 'META':
      return descend(scope.nodeMetadata(), segments, 2)
    case 'RESOURCE':
      return scope.taskResource ?? scope.nodeResource
    case 'TASK_ID':
      return scope.taskId
    case 'NODE_NAME':
      return scope.nodeName
    case 'this':
      return descend(frame?.item, segments, 1)
    case '@index':
      return frame?.index
    case '@key':
      return frame?.key
  }
  for (let level = frame; level; level = level.outer) {
    if (isPlainObject(level.item) && Object.hasOwn(level.item, first)) return descend(level.item, segments, 0)
  }
  return descend(scope.nodeData(first), segments, 1)
}
