/** Defines the frameworks of models, their operations and file layouts. */

/** `custom`: a Python object with its own classes, or a remote model that only its server can describe. */
export const FRAMEWORKS = ['sklearn', 'xgboost', 'pytorch', 'tensorflow', 'custom'] as const
export type Framework = (typeof FRAMEWORKS)[number]

export const ALIASES: ReadonlyMap<string, Framework> = new Map([
  ...FRAMEWORKS.map((one) => [one, one] as const),
  ['scikit-learn', 'sklearn'],
  ['scikitlearn', 'sklearn'],
  ['torch', 'pytorch'],
  ['torchscript', 'pytorch'],
  ['tf', 'tensorflow'],
])

/** Protocols of model servers: `v1` of TensorFlow Serving and KServe, and `v2`, the Open Inference Protocol. */
export const REMOTE_PROTOCOLS = ['v1', 'v2'] as const
export type RemoteProtocol = (typeof REMOTE_PROTOCOLS)[number]

export const OPERATIONS = ['predict', 'classify', 'regress'] as const
export type ModelOperation = (typeof OPERATIONS)[number]

interface Layout {
  readonly file: string
  readonly beside: readonly string[]
  readonly meaning: string
}

export const LAYOUTS: Readonly<Record<Framework, Layout>> = {
  sklearn: { file: 'model.joblib', beside: [], meaning: 'the model saved by joblib.dump' },
  xgboost: { file: 'model.bst', beside: [], meaning: 'the file saved by Booster.save_model' },
  pytorch: { file: 'model.pt', beside: [], meaning: 'the file saved by torch.jit.save' },
  tensorflow: {
    file: 'saved_model.pb',
    beside: ['variables/', 'assets/', 'assets.extra/', 'fingerprint.pb', 'keras_metadata.pb'],
    meaning: 'a SavedModel',
  },
  custom: {
    file: 'model.dill',
    beside: ['lib/', 'requirements.txt'],
    meaning: 'an object with a method predict, or a function, saved by dill.dump',
  },
}

export function mainFileOf(framework: Framework): string {
  return LAYOUTS[framework].file
}

export function belongs(framework: Framework, path: string): boolean {
  const { file, beside } = LAYOUTS[framework]
  return path === file || beside.some((one) => (one.endsWith('/') ? path.startsWith(one) : path === one))
}

export function frameworkOf(text: string): Framework | undefined {
  return ALIASES.get(text.trim().toLowerCase())
}
