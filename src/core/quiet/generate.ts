/** Makes a function of source text that the engine wrote; given from outside, where code may be generated. */
export type Generate = (parameters: readonly string[], body: string) => (...given: never[]) => unknown
