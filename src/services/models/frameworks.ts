/** Frameworks of models, their operations and file layouts. */

/** Framework `custom`: a Python object with classes of its own; of a remote model: known to its server only. */
export const FRAMEWORKS = ['sklearn', 'xgboost', 'pytorch', 'tensorflow', 'custom'] as const
export type Framework = (typeof FRAMEWORKS)[number]

/** Common spellings. */
export const ALIASES: ReadonlyMap<string, Framework> = new Map([
  ...FRAMEWORKS.map((one) => [one, one] as const),
  ['scikit-learn', 'sklearn'],
  ['scikitlearn', 'sklearn'],
  ['torch', 'pytorch'],
  ['torchscript', 'pytorch'],
  ['tf', 'tensorflow'],
])

/** Protocols of model servers: that of TensorFlow Serving and KServe, and the Open Inference Protocol. */
export const REMOTE_PROTOCOLS = ['v1', 'v2'] as const
export type RemoteProtocol = (typeof REMOTE_PROTOCOLS)[number]

export const OPERATIONS = ['predict', 'classify', 'regress'] as const
export type ModelOperation = (typeof OPERATIONS)[number]

interface Layout {
  readonly file: string
  /** Folders and files permitted beside it */
  readonly beside: readonly string[]
  readonly meaning: string
}

export const LAYOUTS: Readonly<Record<Framework, Layout>> = {
  sklearn: { file: 'model.joblib', beside: [], meaning: 'what joblib.dump made of a model' },
  xgboost: { file: 'model.bst', beside: [], meaning: 'what save_model of a Booster made' },
  pytorch: { file: 'model.pt', beside: [], meaning: 'what torch.jit.save made' },
  tensorflow: {
    file: 'saved_model.pb',
    beside: ['variables/', 'assets/', 'assets.extra/', 'fingerprint.pb', 'keras_metadata.pb'],
    meaning: 'a SavedModel',
  },
  custom: {
    file: 'model.dill',
    beside: ['lib/', 'requirements.txt'],
    meaning: 'what dill.dump made of an object with a method predict, or of a function',
  },
}

/** Main file of a framework. */
export function mainFileOf(framework: Framework): string {
  return LAYOUTS[framework].file
}

/** Whether a path belongs to a model. */
export function belongs(framework: Framework, path: string): boolean {
  const { file, beside } = LAYOUTS[framework]
  return path === file || beside.some((one) => (one.endsWith('/') ? path.startsWith(one) : path === one))
}

/** Undefined for an unknown name. */
export function frameworkOf(text: string): Framework | undefined {
  return ALIASES.get(text.trim().toLowerCase())
}
