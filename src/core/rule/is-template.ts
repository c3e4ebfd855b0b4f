/** Distinguishes documents of templates from documents of rules. */
import { isPlainObject } from '#kernel'

/** Whether a document has fields of templates only. */
export function isTemplateDocument(document: unknown): boolean {
  if (!isPlainObject(document) || Object.hasOwn(document, 'task')) return false
  return ['name', 'variables', 'taskDefaults'].some((key) => Object.hasOwn(document, key))
}
