/** The types of functions: what each is called in paths, texts and answers. */

export const FUNCTION_TYPES = ['plugs', 'webscripts', 'models'] as const
/** As the paths of the registry have it. */
export type FunctionType = (typeof FUNCTION_TYPES)[number]

export interface TypeNames {
  /** one of them, in texts */
  readonly noun: 'plug' | 'webscript' | 'model'
  /** as jobs and runtimes name the type */
  readonly wire: 'plugs' | 'webscripts' | 'kfserving'
  /** the asset that says what a function is */
  readonly manifestFile: string
  /** which versions before it a published one deprecates, unless told otherwise */
  readonly deprecates: 'none' | 'patch'
}

export const TYPE_NAMES: Readonly<Record<FunctionType, TypeNames>> = {
  plugs: { noun: 'plug', wire: 'plugs', manifestFile: 'plug.json', deprecates: 'none' },
  webscripts: { noun: 'webscript', wire: 'webscripts', manifestFile: 'webscript.json', deprecates: 'patch' },
  models: { noun: 'model', wire: 'kfserving', manifestFile: 'model.json', deprecates: 'patch' },
}
