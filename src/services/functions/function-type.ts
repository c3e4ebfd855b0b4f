/** Defines the types of functions and their names. */

export const FUNCTION_TYPES = ['plugs', 'webscripts', 'models'] as const
export type FunctionType = (typeof FUNCTION_TYPES)[number]

export interface TypeNames {
  readonly noun: 'plug' | 'webscript' | 'model'
  readonly wire: 'plugs' | 'webscripts' | 'kfserving'
  readonly manifestFile: string
  /** earlier versions that a publication deprecates by default */
  readonly deprecates: 'none' | 'patch'
}

export const TYPE_NAMES: Readonly<Record<FunctionType, TypeNames>> = {
  plugs: { noun: 'plug', wire: 'plugs', manifestFile: 'plug.json', deprecates: 'none' },
  webscripts: { noun: 'webscript', wire: 'webscripts', manifestFile: 'webscript.json', deprecates: 'patch' },
  models: { noun: 'model', wire: 'kfserving', manifestFile: 'model.json', deprecates: 'patch' },
}
