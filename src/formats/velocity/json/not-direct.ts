/** Signals that the value or fault can only be determined from the rendered text. */
export class NotDirect extends Error {}
