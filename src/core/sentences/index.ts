/** Sentences about what rules do and why, for the command line, reports, the API and pages in browsers. */
export {
  type Explained,
  explained,
  explanationText,
  type ExplanationText,
  type ReasonText,
  wayText,
  type WhyNotText,
} from './explanation-text.ts'
export { heldText, type Reason, REASONS } from './reasons.ts'
export { causeOf, type ChainStep, conditionText, type TimeText, valuesText, whySteps } from './why-text.ts'
