/** One contradiction in a contract: which rule, where in its written form, and one sentence that mends it. */
export interface LintFinding {
  readonly rule: string;
  readonly at: string;
  readonly says: string;
}
