/** The function of a command: by its folder, or by its name. */
import type { Client } from '#client'
import { AppError } from '#kernel'
import { FUNCTION_TYPES, type FunctionType } from '#services/functions'
import { isFunctionFolder, readFunctionFolder } from './read-folder.ts'

export interface FoundFunction {
  readonly type: FunctionType
  readonly name: string
  /** of its manifest, or of the argument */
  readonly version?: string | undefined
}

/** `NOT_FOUND` for an unknown function. */
export async function findFunction({ functions }: Client, target: string): Promise<FoundFunction> {
  if (await isFunctionFolder(target)) {
    const { type, manifest } = await readFunctionFolder(target)
    return { type, name: manifest.name, version: manifest.version }
  }
  const at = target.lastIndexOf('@')
  const [name, version] = at < 0 ? [target, undefined] : [target.slice(0, at), target.slice(at + 1)]
  for (const type of FUNCTION_TYPES) {
    const { count } = await functions[type].list({ exactName: name, status: ['any'], limit: 1 })
    if (count > 0) return { type, name, version }
  }
  throw new AppError('NOT_FOUND', `the host has no function ${name.slice(0, 100)}`)
}
