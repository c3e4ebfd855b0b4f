/** Reads recordings of messages as CSV and NDJSON, line by line. */
export { ColumnLook, lookAt, type MixedColumn, mixedText } from './column-types.ts'
export { excerptOf, findJsonProblem } from './json-problem.ts'
export type { LineProblem, MessageTaker, ReadingOptions, RecordedMessage, RecordedRow } from './message-taker.ts'
export { readMessages, type RecordingFormat } from './read-messages.ts'
export { type ReadingSettings, readReadingTexts, type ReadingTexts } from './reading-texts.ts'
export { type ClockZone, epochNumber, readTime, UTC } from './times.ts'
export { type Survey, surveyRecording } from './survey.ts'
export { readValueTypes, typedName, type ValueType } from './value-types.ts'
