<?xml version="1.0"?>
<!-- A list of days as a document. Each day is written by shop.Days.of: the planted culprit. -->
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"
                xmlns:fo="http://www.w3.org/1999/XSL/Format" xmlns:days="xalan://shop.Days"
                exclude-result-prefixes="days">
  <xsl:template match="/list">
    <fo:root>
      <fo:layout-master-set>
        <fo:simple-page-master master-name="page" page-height="29.7cm" page-width="21cm" margin="2cm">
          <fo:region-body/>
        </fo:simple-page-master>
      </fo:layout-master-set>
      <fo:page-sequence master-reference="page">
        <fo:flow flow-name="xsl-region-body">
          <fo:block><xsl:apply-templates select="item"/></fo:block>
        </fo:flow>
      </fo:page-sequence>
    </fo:root>
  </xsl:template>
  <!-- Most are not shown: the layout must not be what costs. -->
  <xsl:template match="item">
    <xsl:variable name="day" select="days:of(number(@number))"/>
    <xsl:if test="starts-with($day, '1971-0')"><xsl:value-of select="$day"/><xsl:text> </xsl:text></xsl:if>
  </xsl:template>
</xsl:stylesheet>
